"""Runs the example studies and writes what they find into the pages of the machines, with
pictures: `make machines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import didim
import machines_servo
from didim.report.files import write_picture
from didim.report.pictures import new_axes, torques

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- results -->", "<!-- end -->"

PUBLISHED = {
    "emps": {"M1": 95.1089, "Fv1": 203.5034, "Fc1": 20.3935, "off1": -3.1648},
    "double_pendulum": {"ZZ1R": 0.090, "MX1R": 0.329, "ZZ2": 0.027, "MX2": 0.118},
    "tx40": {
        **dict(
            zip((f"Fv{j}" for j in range(1, 7)), (8.05, 5.53, 1.97, 1.11, 1.86, 0.65), strict=True)
        ),
        **dict(
            zip((f"Fc{j}" for j in range(1, 7)), (7.14, 8.26, 6.34, 2.48, 3.03, 0.282), strict=True)
        ),
        **dict(zip((f"Ia{j}" for j in range(3, 7)), (0.0988, 0.0313, 0.0468, 0.0105), strict=True)),
        **{"Iam6": 0.00964, "Fvm6": 0.616, "Fcm6": 1.95},
    },
}
"""Values that were known before: of the benchmark, of a fit to the same record, of the robot."""

SHOWN = {"emps": (6.0, 13.0)}
"""s: one period of a motion that repeats."""

WHOLE = {
    "emps": [],
    "double_pendulum": ["experiment.0.between=[0.0, 75.0]"],
    "tx40": ["experiment.0.between=[0.0, 5.5]"],
}
"""What makes the study use the whole record."""


def study(name: str, *settings: str) -> didim.Study:
    """The study of a machine."""
    return didim.load_study(ROOT / "examples" / f"{name}.toml", settings)


def rows(name: str) -> Iterator[str]:
    """The lines of a machine's table."""
    whole = {each: study(name, f"method={each}", *WHOLE[name]).run() for each in ("idim", "didim")}
    part = {each: study(name, f"method={each}").run() for each in ("idim", "didim")}
    yield "| parameter | known | IDIM | 95 % interval | DIDIM | 95 % interval |"
    yield "|---|---:|---:|---|---:|---|"
    for parameter, value in PUBLISHED[name].items():
        cells = [cell for estimate in whole.values() for cell in _cells(estimate, parameter)]
        yield f"| {parameter} | {value:g} | {' | '.join(cells)} |"
    yield ""
    yield "| | IDIM | DIDIM |"
    yield "|---|---:|---:|"
    yield f"| status | {' | '.join(estimate.status for estimate in whole.values())} |"
    residuals = [_percent(each.residual, each.residual_by_joint) for each in whole.values()]
    yield f"| residual | {' | '.join(residuals)} |"
    if part["idim"].validation:
        fitted = (
            _percent(estimate.residual, estimate.residual_by_joint) for estimate in part.values()
        )
        yield f"| residual of the fit to a part | {' | '.join(fitted)} |"
        tried = (
            _percent(each.residual, each.residual_by_joint)
            for e in part.values()
            for each in e.validation[:1]
        )
        yield f"| prediction of the rest | {' | '.join(tried)} |"
    counts = [str(len(estimate.names)) for estimate in whole.values()]
    yield f"| base parameters | {' | '.join(counts)} |"
    if name == "tx40":
        few = study(name, *WHOLE[name], "idim.essential=true").run()
        count, residual = len(few.names), _percent(few.residual)
        yield f"| essential ones, and their residual | {count}, {residual} | |"


def _cells(estimate: didim.Estimate, parameter: str) -> list[str]:
    k = estimate.names.index(parameter)
    low, high = estimate.interval()[k]
    return [f"{estimate.values[k]:.4g}", f"{low:.4g} to {high:.4g}"]


def _percent(share: float, by_joint: object = ()) -> str:
    joints = ", ".join(f"{100 * each:.2g}" for each in by_joint)  # type: ignore[attr-defined]
    return f"{100 * share:.3g} %" + (f" ({joints})" if "," in joints else "")


def picture(name: str) -> None:
    """Measured and estimated torques: on the part that was not fitted to, where there is one."""
    chosen = study(name)
    estimate = chosen.run()
    shown = (chosen.validation or chosen.experiments)[0]
    n = chosen.model.robot.n
    axes = new_axes(n, 1, (9.0, 2.2 if n > 1 else 3.2))
    for j in range(n):
        torques(estimate, shown, j, axes[j, 0], SHOWN.get(name))
    write_picture(axes[0, 0], ROOT / "docs" / "images" / f"{name}.png")


def main() -> None:
    """Write the tables and the pictures."""
    for name in PUBLISHED:
        write(name, rows(name))
        picture(name)
    write("xl330", machines_servo.rows())


def write(name: str, lines: Iterator[str]) -> None:
    """Write the table of a machine into its page."""
    page = ROOT / "docs" / "machines" / f"{name.replace('_', '-')}.md"
    before, _, rest = page.read_text().partition(BEGIN)
    table = "\n".join(lines)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")
    print(page)


if __name__ == "__main__":
    main()
