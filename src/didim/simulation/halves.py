"""Sensitivities of one record by two threads, exactly.

The sensitivities of a motion follow a linear equation, S' = A S + B. One thread carries them along
from the start to the middle. The other one reaches the middle by a plain run, which takes a fifth
of the time; from there it carries S = 0 along, and beside it Phi, which begins with 1 for each
number that the loop carries on. What the first thread has at the middle, S_m, then gives the second
half: S + Phi S_m. Decimation is linear too: it comes first.

Where the middle is depends on the run alone, not on the threads, and so does every number.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import BACKWARD_DIFFERENCE, MEAN_DIFFERENCE
from didim.jit.lanes import padded_lanes
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.simulation.directions import Codes, Directions
from didim.simulation.kernels.plant import HELD
from didim.simulation.kernels.tangent import Tangent
from didim.simulation.motion import Motion
from didim.simulation.run import Run, Take

Array = NDArray[np.float64]

PLAIN, COMMON, DIRECTION = 0.7, 1.4, 0.04
"""us of an evaluation: the plain one, what sensitivities cost once, and for each direction."""

LARGEST_PART = 0.75
"""Of a run that the first half may take: the second one would carry too much beside."""

FIRST_LOOK = 0.1
"""s after the middle at which Phi is first looked at."""

FORGOTTEN = 1e-30
"""Phi below which nothing is left of the middle."""

FEWEST_STEPS = 8_000
"""Of a run that is worth it: shorter ones gain nothing."""


@dataclass(frozen=True, eq=False)
class Half:
    """A run before its first step, with sensitivities."""

    run: Run
    tangent: Tangent
    take: Take
    codes: Codes
    """What the tangent's addresses point to, which must live as long as it."""

    def make(self, until: int | None = None) -> Motion:
        """Run to the sample `until` of the clock; None: to the end."""
        return self.run.sensitive(self.tangent, self.take, until=until)


@dataclass(frozen=True)
class Middle:
    """Where the second half of a run begins."""

    row: int
    """Of the outputs."""
    sample: int
    """Of the clock."""
    directions: Directions
    """Of the second half: those of the run, then one for each number that the loop carries on."""


def middle_of(
    run: Run, directions: Directions, samples: tuple[int, int], block: int
) -> Middle | None:
    """The middle of a run; None: it is made as a whole. Of the outputs that are used, `samples`
    (first, one past the last), the first half has a multiple of `block`.
    """
    t, period, (start, stop) = run.out.t, run.period, samples
    more = replace(directions, count=directions.count + _carried_numbers(run))
    first, second = (COMMON + DIRECTION * padded_lanes(each.count) for each in (directions, more))
    part = second / (first + second - PLAIN)
    if run.total * run.substeps < FEWEST_STEPS or part > LARGEST_PART:
        return None
    blocks = (int(np.searchsorted(t, part * run.end)) - start) // block
    row = start + blocks * block
    if blocks < 1 or row + block >= stop:
        return None
    sample = round(float(t[row]) / period)
    begin = sample * period
    if abs(t[row] - begin) > TIME_TOLERANCE or t[row - 1] >= begin - TIME_TOLERANCE:
        return None  # the outputs are not on the clock
    return Middle(row, sample, more)


def run_in_halves(
    middle: Middle,
    first: Half,
    second: Callable[[], Half],
    join: Callable[[Array], None],
) -> Motion:
    """Make two runs of the same simulation, one for each half; the second one is prepared beside
    the first. `join` is given S_m (s, M), where the rows that the second one handed out are to
    follow those of the first.
    """
    count = middle.directions.count

    def end() -> tuple[Motion, Array]:
        half = second()
        motion, y = half.run.fixed(None, until=middle.sample), half.run.y.copy()
        if not motion.completed:
            return motion, y
        _begin_with_one(half, count)
        return _forgetting(half, count), y

    with ThreadPoolExecutor(2) as pool:
        both = pool.submit(first.make, middle.sample), pool.submit(end)
        motion, (whole, y) = both[0].result(), both[1].result()
    if not motion.completed:
        return motion
    if not np.array_equal(first.run.y, y):  # a plain run is the same to the last digit
        return first.make()
    if whole.completed:
        join(np.concatenate(_carried(first))[:, : count - _carried_numbers(first.run)])
    return whole


def _forgetting(half: Half, count: int) -> Motion:
    """Run to the end. Phi is looked at after times that double: what is next to nothing is set to
    zero, before its numbers are so small that computing with them is slow.
    """
    run, phi = half.run, slice(count - _carried_numbers(half.run), count)
    length, is_left = max(1, int(FIRST_LOOK / run.period)), True
    while is_left and run.sample + length < run.total:
        motion = half.make(run.sample + length)
        if not motion.completed:
            return motion
        state = _carried(half)
        size = np.max([np.abs(rows[:, phi]).max(axis=0) for rows in state], axis=0)
        for rows in state:
            rows[:, phi] *= size > FORGOTTEN
        length, is_left = 2 * length, bool(np.any(size > FORGOTTEN))
    return half.make()


def _begin_with_one(half: Half, count: int) -> None:
    """S = 0, and 1 in one of the last of `count` directions for each number that is carried on."""
    at = count - _carried_numbers(half.run)
    for rows in _carried(half):
        rows[:] = 0.0
        rows[:, at : at + len(rows)] = np.eye(len(rows))
        at += len(rows)


def _carried_numbers(run: Run) -> int:
    """s: numbers that the loop carries from one step to the next."""
    n, line = run.model.robot.n, run.plant.controller_state.line.shape[0]
    return run.size + n * sum(_remembers(run, line))


def _carried(half: Half) -> list[Array]:
    """Their sensitivities, (k, m) each."""
    law, line = half.tangent.law, half.tangent.law.line.shape[0]
    integrals, past, commands = _remembers(half.run, line)
    return [half.tangent.y, *law.integral[:integrals], *law.past[:past], *law.line[:commands]]


def _remembers(run: Run, line: int) -> tuple[int, int, int]:
    """Integrals, positions and commands, (n,) each, that a sampled law remembers."""
    if run.plant.drive != HELD:
        return 0, 0, 0
    law = run.plant.law
    past = {BACKWARD_DIFFERENCE: 1, MEAN_DIFFERENCE: 2}.get(law.velocity, 0)
    return 2 if law.ki.any() or law.kiv.any() else 0, past, line if line > 1 else 0
