"""Which columns of a log without a header are probably what, from what they hold: the time rises
steadily, and positions are the integrals of velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid
from scipy.signal import detrend

from didim.signals.load import SLOWEST_PERIOD

Array = NDArray[np.float64]
Block = tuple[int, ...]
"""Columns of a signal, one for each joint; 0 is the first of the log."""

MIN_ROWS, MAX_ROWS = 20, 20_000
"""Rows of a log that are looked at."""

MIN_CORRELATION = 0.97
"""Of a position and the integral of its velocity."""

MAX_SLOPE_ERROR = 0.3
"""By how much the slope between the two may miss that of a unit of time."""

MIN_RISING_FRACTION = 0.99
"""Of the steps of a time."""

MAX_CURVATURE = 1e-2
"""rms distance of a time to a straight line, over its length."""

USUAL_RATES = (20.0, 5000.0)
"""Hz, of logs."""

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Content:
    """What the columns of a log look like."""

    time: int | None = None
    unit: str = "s"
    """Of the time, as positions and velocities say."""
    pairs: tuple[tuple[Block, Block], ...] = ()
    """Positions and their velocities, the roughest positions first: they are measured."""
    rest: tuple[Block, ...] = ()
    """Other blocks of columns, one column for each joint."""


def content_of(columns: Sequence[Array], n: int) -> Content:
    """What the columns (N,) of a log of n joints look like."""
    if not columns or columns[0].size < MIN_ROWS or any(each.ndim != 1 for each in columns):
        return Content()
    values = np.column_stack(columns)[:MAX_ROWS]
    values = values[np.isfinite(values).all(axis=1)]
    time = _time(values) if len(values) >= MIN_ROWS else None
    if time is None:
        return Content(rest=_blocks([*range(values.shape[1])], n))
    values = values[np.concatenate([[True], np.diff(values[:, time]) > 0])]
    relations = _relations(values, time)
    pairs = sorted(_pairs(relations, values, n), key=lambda pair: -_roughness(values, pair[0]))
    used = {time, *(k for pair in pairs for block in pair for k in block)}
    others = [k for k in range(values.shape[1]) if k not in used]
    stride = pairs[0][0][1] - pairs[0][0][0] if pairs and n > 1 else 1
    unit = relations[pairs[0][0][0], pairs[0][1][0]] if pairs else "s"
    return Content(time, unit, tuple(pairs), _blocks(others, n, stride))


def _time(values: Array) -> int | None:
    """The column that rises steadily; a mere count of the rows only where there is no other."""
    steps = np.diff(values, axis=0)
    line = np.arange(len(values)) / (len(values) - 1.0)
    found = []
    for k in np.flatnonzero((steps >= 0).mean(axis=0) >= MIN_RISING_FRACTION):
        span = values[-1, k] - values[0, k]
        if span > 0 and np.mean(steps[:, k] > 0) > 0.5:
            away = (values[:, k] - values[0, k]) / span - line
            if np.sqrt(np.mean(away**2)) < MAX_CURVATURE:
                found.append(int(k))
    counts = [k for k in found if np.all(steps[:, k] == 1)]
    return next(
        (k for k in [*found, *counts] if k not in counts or len(found) == len(counts)), None
    )


def _relations(values: Array, time: int) -> dict[tuple[int, int], str]:
    """Pairs of columns of which the first is the integral of the second, and the unit of time in
    which it is.
    """
    integrals = detrend(cumulative_trapezoid(values, values[:, time], axis=0, initial=0), axis=0)
    signals = detrend(values, axis=0)
    sizes, lengths = np.linalg.norm(integrals, axis=0), np.linalg.norm(signals, axis=0)
    moves = lengths > 1e-9 * np.linalg.norm(values, axis=0)
    sizes, lengths = np.where(sizes > 0, sizes, np.inf), np.where(moves, lengths, np.inf)
    product = signals.T @ integrals
    correlation = product / np.outer(lengths, sizes)
    slope = product / sizes**2
    found = {}
    for unit, factor in TIME_UNITS.items():
        near = np.abs(slope / factor - 1.0) < MAX_SLOPE_ERROR
        for i, j in np.argwhere(near & (correlation > MIN_CORRELATION)):
            if time not in (i, j) and i != j:
                found[int(i), int(j)] = unit
    return found


def _pairs(
    relations: Mapping[tuple[int, int], str], values: Array, n: int
) -> list[tuple[Block, Block]]:
    """Blocks of n positions and n velocities at equal distances; joints that stand still may be
    among them, but not be half of them.
    """
    still = np.ptp(values, axis=0) <= 1e-3 * np.max(np.abs(values), axis=0, initial=0.0)
    count = values.shape[1]
    found: dict[Block, Block] = {}
    for (i, j), unit in relations.items():
        for stride in range(1, count // max(1, n - 1) + 1) if n > 1 else (1,):
            for k in range(n):
                first = i - k * stride
                last, shift = first + (n - 1) * stride, j - i
                if first < 0 or last >= count or first + shift < 0 or last + shift >= count:
                    continue
                q = tuple(range(first, last + 1, stride))
                dq = tuple(each + shift for each in q)
                if {*q} & {*dq} or q in found:
                    continue
                holds = [relations.get(pair) == unit for pair in zip(q, dq, strict=True)]
                fixed = [still[a] for a in q]
                if sum(holds) > n / 2 and all(np.logical_or(holds, fixed)):
                    found[q] = dq
    return [*found.items()]


def _roughness(values: Array, block: Block) -> float:
    """How much of the columns' changes does not last: measured positions have noise and steps."""
    steps = np.diff(values[:, list(block)], axis=0)
    size = np.linalg.norm(steps)
    return float(np.linalg.norm(np.diff(steps, axis=0)) / size) if size > 0 else 0.0


def _blocks(columns: Sequence[int], n: int, stride: int = 1) -> tuple[Block, ...]:
    """Blocks of n columns at the stride, from those that are left."""
    left, found = {*columns}, []
    for k in columns:
        block = tuple(range(k, k + n * stride, stride))
        if {*block} <= left:
            found.append(block)
            left -= {*block}
    return tuple(found)


def unit_of_time(t: Array) -> str:
    """The unit of a time (N,): s, or the only smaller one in which its rate is that of a log."""
    steps = np.diff(t[np.isfinite(t)])
    step = float(np.median(steps)) if steps.size else 0.0
    if step < SLOWEST_PERIOD:
        return "s"
    low, high = USUAL_RATES
    fits = [unit for unit, size in TIME_UNITS.items() if low <= 1.0 / (step * size) <= high]
    return fits[0] if len(fits) == 1 else "s"


def numbers_of(block: Block) -> str | list[int]:
    """A block as a study writes it: a range of numbers, or a list; 1 is the first column."""
    first, last = block[0] + 1, block[-1] + 1
    if all(b - a == 1 for a, b in pairwise(block)):
        return f"{first}-{last}" if last > first else str(first)
    return [k + 1 for k in block]
