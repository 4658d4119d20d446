"""`python -m benchmarks.machine_effects`: which effects the measured machines have; with `--docs`
the tables go into the pages of docs/machines. Needs DIDIM_DATA.

Effects are added one at a time, by IDIM, on the first part of each record alone: the one that
lowers the error of its four blocks most, each predicted from the other three, and by 1 % at least.
The last part of the record is looked at only to report what became of it.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import didim

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- effects -->", "<!-- end of effects -->"
BLOCKS, LEAST_GAIN, MOST = 4, 0.99, 3
CANDIDATES = {
    "offset": (),
    "asymmetric_viscous": ("viscous",),
    "asymmetric_coulomb": ("coulomb", "offset"),
    "stribeck": (),
    "load_friction": (),
    "viscous_power": (),
    "ripple": (),
    "spring": (),
}
"""Effects to try, and those that they take the place of."""
SPLIT = {"emps": 16.0}
"""s, where the study itself holds nothing out."""


@dataclass(frozen=True)
class Machine:
    """A record, its first and last part."""

    name: str
    robot: didim.Robot
    effects: tuple[str, ...]
    first: didim.Experiment
    last: didim.Experiment
    study: didim.Study


def machine(name: str) -> Machine:
    """The machine of an example study."""
    study = didim.load_study(ROOT / "examples" / f"{name}.toml", ["method=idim"])
    robot, effects = study.model.robot, study.model.effects
    if effects is None:
        declared = {effect for joint in robot.joints for effect in joint.effects}
        effects = (*sorted(declared), *(["coupling"] if robot.couplings else []))
    first = study.experiments[0]
    if name in SPLIT:
        whole, at = first, SPLIT[name]
        first, last = whole.between(whole.t[0], at), whole.between(at, whole.t[-1])
    else:
        last = study.validation[0]
    return Machine(name, robot, tuple(map(str, effects)), first, last, study)


def block_error(chosen: Machine, effects: tuple[str, ...]) -> float:
    """Rms over the blocks of the first part of the error with which the others predict each."""
    edges = np.linspace(chosen.first.t[0], chosen.first.t[-1], BLOCKS + 1)
    blocks = [chosen.first.between(*each) for each in itertools.pairwise(edges)]
    model, errors = didim.DynamicModel(chosen.robot, effects), []
    for k, block in enumerate(blocks):
        others = [each for i, each in enumerate(blocks) if i != k]
        estimate = didim.identify(model, others, chosen.study.method("idim"))
        errors.append(estimate.validate(block).residual)
    return float(np.sqrt(np.mean(np.square(errors))))


def with_effect(effects: tuple[str, ...], added: str) -> tuple[str, ...] | None:
    """The effects with one more; None where it is there, or excluded."""
    if added in effects or (added == "offset" and "asymmetric_coulomb" in effects):
        return None
    return (*(each for each in effects if each not in CANDIDATES[added]), added)


def rows(chosen: Machine) -> Iterator[str]:
    """The lines of the table."""
    effects, error = chosen.effects, block_error(chosen, chosen.effects)
    yield "| effects | blocks of the first part | fit | last part |"
    yield "|---|---:|---:|---:|"
    yield _row("as in the study", chosen, effects, error)
    for _ in range(MOST):
        tried = {each: with_effect(effects, each) for each in CANDIDATES}
        errors = {k: block_error(chosen, v) for k, v in tried.items() if v is not None}
        best = min(errors, key=lambda each: errors[each])
        others = ", ".join(f"{k} {100 * v:.3g} %" for k, v in errors.items() if k != best)
        if errors[best] >= LEAST_GAIN * error:
            yield f"| none helps: {best} {100 * errors[best]:.3g} %, {others} | | | |"
            return
        found = tried[best]
        assert found is not None
        effects, error = found, errors[best]
        yield _row(f"and {best} (not {others})", chosen, effects, error)


def _row(label: str, chosen: Machine, effects: tuple[str, ...], error: float) -> str:
    model = didim.DynamicModel(chosen.robot, effects)
    estimate = didim.identify(model, chosen.first, chosen.study.method("idim"))
    last = estimate.validate(chosen.last).residual
    figures = " | ".join(f"{100 * each:.3g} %" for each in (error, estimate.residual, last))
    return f"| {label} | {figures} |"


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["emps", "double_pendulum", "tx40"])
    parser.add_argument("--docs", action="store_true", help="write the tables into the pages")
    chosen = parser.parse_args()
    for name in chosen.names:
        table = "\n".join(rows(machine(name)))
        print(f"{name}\n{table}", flush=True)
        if chosen.docs:
            page = ROOT / "docs" / "machines" / f"{name.replace('_', '-')}.md"
            before, _, rest = page.read_text().partition(BEGIN)
            page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
