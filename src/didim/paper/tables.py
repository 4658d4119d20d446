"""Tables 1 to 9 as text: what the paper prints beside what the virtual SCARA gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from didim.paper import printed
from didim.paper.experiments import PaperExperiments, Runs
from didim.results.estimate import Estimate

Array = NDArray[np.float64]

TABLES = tuple(range(1, 10))

_LENGTH = 0.5
"""L of (64), m: the paper lists LMX2 = L MX2 and LMY2 = L MY2."""
_SCALE = np.array([1.0, 1.0, 1.0, 1.0, _LENGTH, _LENGTH, 1.0, 1.0])
"""Of the parameters of `printed.NAMES`, over those of the model."""


def table(runs: PaperExperiments, number: int) -> str:
    """One table of the paper."""
    makers: dict[int, Callable[[PaperExperiments], str]] = {
        1: lambda runs: _pair(runs, 1, "good filtering, chi0 from IDIM", runs.idim, runs.from_idim),
        2: lambda runs: _single(
            runs, "2: DIDIM, regular initialisation", printed.TABLE_2, runs.regular
        ),
        3: lambda runs: _residuals("3: torque error by joint", printed.TABLE_3, runs.regular),
        4: _table_4,
        5: lambda runs: _pair(runs, 5, "0.5 Hz", runs.slow_idim, runs.slow_didim),
        6: _table_6,
        7: lambda runs: _pair(runs, 7, "no data filtering", runs.raw_idim, runs.raw_didim),
        8: _table_8,
        9: _table_9,
    }
    return makers[number](runs)


def _columns(estimate: Estimate) -> tuple[Array, Array, Array]:
    """Values and 2 sigma in the paper's parameters, relative sigma in percent."""
    return _SCALE * estimate.values, 2 * _SCALE * estimate.sigma, estimate.relative_sigma


def _grid(
    title: str, head: Sequence[str], rows: Sequence[Sequence[object]], foot: Sequence[str] = ()
) -> str:
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(head[i]), *(len(row[i]) for row in cells)) for i in range(len(head))]
    lines = [title, "  ".join(f"{name:>{width}}" for name, width in zip(head, widths, strict=True))]
    lines += [
        "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    return "\n".join([*lines, *foot])


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    number = float(value)  # type: ignore[arg-type]
    return f"{number:.3g}" if np.isfinite(number) else "-"


def _status(estimate: Estimate) -> str:
    return (
        estimate.status
        if not estimate.history
        else f"{estimate.status} after {estimate.iterations} steps"
    )


def _end(estimate: Estimate, label: str) -> str:
    return f"{label}: {_status(estimate)}, residual {100 * estimate.residual:.3g} %"


def _single(runs: PaperExperiments, title: str, values: Sequence[float], found: Runs) -> str:
    """DIDIM as printed with its sigma, the guarded values beside it."""
    value, wide, percent = _columns(found.printed)
    guarded = _columns(found.guarded)[0]
    columns = _SCALE * runs.truth, values, value, wide, percent, guarded
    rows = list(zip(printed.NAMES, *columns, strict=True))
    head = ["parameter", "true here", "paper", "as printed", "2 sigma", "% sigma", "guarded"]
    foot = [_end(found.printed, "as printed"), _end(found.guarded, "guarded")]
    return _grid(f"TABLE {title}", head, rows, foot)


def _pair(runs: PaperExperiments, number: int, title: str, idim: Estimate, didim: Runs) -> str:
    """IDIM and DIDIM with their sigmas, the guarded values beside them."""
    first, second = printed.PAIRS[number]
    one, other, guarded = _columns(idim), _columns(didim.printed), _columns(didim.guarded)[0]
    columns = _SCALE * runs.truth, first, *one, second, *other, guarded
    rows = list(zip(printed.NAMES, *columns, strict=True))
    head = ["parameter", "true here", "IDIM paper", "here", "2 sigma", "% sigma"]
    head += ["DIDIM paper", "as printed", "2 sigma", "% sigma", "guarded"]
    before = [100 * printed.RESIDUALS[f"{number} {name}"] for name in ("IDIM", "DIDIM")]
    foot = [
        f"residual in the paper: IDIM {before[0]:.3g} %, DIDIM {before[1]:.3g} %",
        _end(idim, "IDIM"),
        _end(didim.printed, "DIDIM as printed"),
        _end(didim.guarded, "DIDIM guarded"),
    ]
    return _grid(f"TABLE {number}: IDIM and DIDIM, {title}", head, rows, foot)


def _residuals(title: str, values: Sequence[Sequence[float]], found: Runs) -> str:
    """Torque error of each joint over the iterations."""
    named = (("as printed", found.printed), ("guarded", found.guarded))
    steps = max(len(values[0]), *(len(each.history) for _, each in named))
    rows: list[list[object]] = []
    for j in range(2):
        lines = [("paper", list(values[j]))]
        for name, each in named:
            lines.append((name, [step.residual_by_joint[j] for step in each.history]))
        for name, errors in lines:
            rows.append([f"joint {j + 1}, {name}", *errors, *[np.nan] * (steps - len(errors))])
    foot = [_end(each, name) for name, each in named]
    return _grid(f"TABLE {title}", ["iteration", *map(str, range(steps))], rows, foot)


def _table_4(runs: PaperExperiments) -> str:
    blocks, steps = [], len(printed.TABLE_4[0])
    for name, estimate in (("as printed", runs.regular.printed), ("guarded", runs.regular.guarded)):
        ours = np.array([step.parameters for step in estimate.history]).T * _SCALE[:, None]
        head = ["parameter", *(f"paper {k}" for k in range(steps))]
        head += [f"{name} {k}" for k in range(len(estimate.history))]
        pairs = zip(printed.NAMES, printed.TABLE_4, ours, strict=True)
        rows = [[parameter, *before, *after] for parameter, before, after in pairs]
        blocks.append(_grid(f"TABLE 4: parameters over the iterations, {name}", head, rows))
    return "\n\n".join(blocks)


def _table_8(runs: PaperExperiments) -> str:
    """Both readings of "half the bandwidth"."""
    texts = [
        _single(runs, f"8: DIDIM, half the bandwidth, {reading}", printed.TABLE_8, found)
        for reading, found in _readings(runs)
    ]
    return "\n\n".join(texts)


def _table_9(runs: PaperExperiments) -> str:
    texts = [
        _residuals(f"9: torque error by joint, half, {reading}", printed.TABLE_9, found)
        for reading, found in _readings(runs)
    ]
    return "\n\n".join(texts)


def _readings(runs: PaperExperiments) -> tuple[tuple[str, Runs], ...]:
    both, kept = "kp and kv from it", "kp kept as (59) prints"
    return (both, runs.half), (kept, runs.half_kp_kept)


def _table_6(runs: PaperExperiments) -> str:
    names = ("dq1", "ddq1", "dq2", "ddq2")
    rows = list(zip(names, printed.TABLE_6, runs.low_rate_errors, strict=True))
    return _grid(
        "TABLE 6: joint data at 0.5 Hz against 200 Hz low-passed at 0.5 Hz, relative error",
        ["signal", "paper", "here"],
        rows,
    )
