"""Tables 1 to 9 as text: what the paper prints beside what the virtual SCARA gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from didim.paper import printed
from didim.paper.experiments import PaperExperiments
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
        1: _table_1,
        2: lambda runs: _single(
            runs, 2, "DIDIM with the regular initialisation", printed.TABLE_2, runs.regular
        ),
        3: lambda runs: _residuals(
            runs, 3, "torque error by joint over the iterations", printed.TABLE_3, runs.regular
        ),
        4: _table_4,
        5: lambda runs: _pair(
            runs,
            5,
            "0.5 Hz",
            printed.TABLE_5_IDIM,
            runs.slow_idim,
            printed.TABLE_5_DIDIM,
            runs.slow_didim,
        ),
        6: _table_6,
        7: lambda runs: _pair(
            runs,
            7,
            "no data filtering",
            printed.TABLE_7_IDIM,
            runs.raw_idim,
            printed.TABLE_7_DIDIM,
            runs.raw_didim,
        ),
        8: lambda runs: _single(
            runs, 8, "DIDIM with half the bandwidth", printed.TABLE_8, runs.half
        ),
        9: lambda runs: _residuals(
            runs, 9, "torque error by joint, half the bandwidth", printed.TABLE_9, runs.half
        ),
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


def _single(
    runs: PaperExperiments, number: int, title: str, values: Sequence[float], estimate: Estimate
) -> str:
    found, wide, share = _columns(estimate)
    rows = list(zip(printed.NAMES, _SCALE * runs.truth, values, found, wide, share, strict=True))
    head = ["parameter", "true here", "printed", "here", "2 sigma", "% sigma"]
    foot = [f"here: {_status(estimate)}, residual {100 * estimate.residual:.3g} %"]
    return _grid(f"TABLE {number}: {title}", head, rows, foot)


def _pair(
    runs: PaperExperiments,
    number: int,
    title: str,
    first: Sequence[float],
    idim: Estimate,
    second: Sequence[float],
    didim: Estimate,
) -> str:
    one, other = _columns(idim), _columns(didim)
    rows = list(zip(printed.NAMES, _SCALE * runs.truth, first, *one, second, *other, strict=True))
    head = [
        "parameter",
        "true here",
        "IDIM printed",
        "here",
        "2 sigma",
        "% sigma",
        "DIDIM printed",
        "here",
        "2 sigma",
        "% sigma",
    ]
    shown = []
    for name, estimate in (("IDIM", idim), ("DIDIM", didim)):
        before = 100 * printed.RESIDUALS[f"{number} {name}"]
        shown.append(
            f"{name} printed {before:.3g} %, here {100 * estimate.residual:.3g} % "
            f"({_status(estimate)})"
        )
    return _grid(
        f"TABLE {number}: IDIM and DIDIM, {title}", head, rows, ["residual: " + "; ".join(shown)]
    )


def _table_1(runs: PaperExperiments) -> str:
    return _pair(
        runs,
        1,
        "good filtering, chi0 from IDIM",
        printed.TABLE_1_IDIM,
        runs.idim,
        printed.TABLE_1_DIDIM,
        runs.didim_from_idim,
    )


def _residuals(
    runs: PaperExperiments,
    number: int,
    title: str,
    values: Sequence[Sequence[float]],
    estimate: Estimate,
) -> str:
    del runs
    steps = max(len(values[0]), len(estimate.history))
    rows: list[list[object]] = []
    for j in range(2):
        ours = [step.residual_by_joint[j] for step in estimate.history]
        rows.append([f"joint {j + 1} printed", *values[j], *[np.nan] * (steps - len(values[j]))])
        rows.append([f"joint {j + 1} here", *ours, *[np.nan] * (steps - len(ours))])
    return _grid(
        f"TABLE {number}: {title}",
        ["iteration", *map(str, range(steps))],
        rows,
        [f"here: {_status(estimate)}"],
    )


def _table_4(runs: PaperExperiments) -> str:
    history = runs.regular.history
    ours = np.array([step.parameters for step in history]).T * _SCALE[:, None]
    steps = len(printed.TABLE_4[0])
    head = [
        "parameter",
        *(f"printed {k}" for k in range(steps)),
        *(f"here {k}" for k in range(len(history))),
    ]
    rows = [
        [name, *before, *after]
        for name, before, after in zip(printed.NAMES, printed.TABLE_4, ours, strict=True)
    ]
    return _grid("TABLE 4: parameters over the iterations", head, rows)


def _table_6(runs: PaperExperiments) -> str:
    names = ("dq1", "ddq1", "dq2", "ddq2")
    rows = list(zip(names, printed.TABLE_6, runs.low_rate_errors, strict=True))
    return _grid(
        "TABLE 6: joint data at 0.5 Hz against 200 Hz, relative error",
        ["signal", "printed", "here"],
        rows,
    )
