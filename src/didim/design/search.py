"""The search: random motions, the best of them improved by L-BFGS with a growing penalty.

The budget is a number of iterations, not a time: the same seed gives the same plan.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from didim.design.feasible import scaled
from didim.design.objective import Objective
from didim.threads import one_blas_thread

Array = NDArray[np.float64]
Progress = Callable[[float], Any]
Tightening = Callable[[Objective, Array], Objective]

THREADS = 2

POLL = 0.02
"""s between looks for an interrupt."""

MEMORY = 20
"""Steps that L-BFGS remembers."""

FALLBACKS = 3
"""Random motions that are kept, should the best not be feasible."""

OFFSET_SPREAD = 0.3
"""Of the offsets of random motions, over half the range."""


@dataclass(frozen=True)
class Budget:
    """How much is searched."""

    drawn: int = 24
    """Random motions."""
    starts: int = 3
    """The best of them that are improved."""
    first: int = 60
    """Iterations of each."""
    last: tuple[int, ...] = (150, 60)
    """Iterations of the best of these, with growing penalty."""
    weights: tuple[float, ...] = (300.0, 1000.0, 10_000.0)
    """Of the penalty, at first and then."""
    bursts: int = 32
    """Bursts that are drawn, where gains are unknown."""

    @property
    def total(self) -> int:
        """Iterations in all."""
        return self.starts * self.first + sum(self.last)

    def scaled(self, effort: float) -> Budget:
        """As many motions, and `effort` times the iterations and bursts."""
        first, bursts, *last = (
            max(1, round(effort * each)) for each in (self.first, self.bursts, *self.last)
        )
        return replace(self, first=first, last=tuple(last), bursts=bursts)


FOR_GAINS = Budget(starts=1, first=150, last=(200, 60))
"""Where gains are unknown: motions up to the bandwidth of a loop have so many coefficients that one
start with more iterations comes further than several.
"""


@dataclass(eq=False)
class Watch:
    """Counts iterations, reports them, and knows whether the search was told to stop."""

    total: int
    progress: Progress | None
    done: int = 0
    stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self) -> None:
        """One iteration more; raises `StopIteration` where the search was stopped."""
        with self._lock:
            self.done += 1
            self._report()
            if self.stopped:
                raise StopIteration

    def asked_to_stop(self) -> bool:
        """Whether the search was told to stop, by an answer to the same report once more."""
        with self._lock:
            self._report()
            return self.stopped

    def _report(self) -> None:
        if self.progress is None or self.stopped:
            return
        answer = self.progress(min(0.95, 0.95 * self.done / self.total))
        if answer is not None and not answer:
            self.stopped = True


def random_motion(objective: Objective, random: np.random.Generator) -> Array:
    """x of a random motion, before it is scaled."""
    motions = objective.motions
    table = random.normal(size=(motions.n, motions.size // motions.n))
    table[:, : motions.basis.count] *= motions.basis.random_weights(random)
    if motions.start is None:
        table[:, -1] = np.clip(OFFSET_SPREAD * table[:, -1], -0.9, 0.9)
    return table.ravel()


def random_motions(objective: Objective, pose: Array, seed: int, count: int) -> list[Array]:
    """Random motions that meet the limits on the grid."""
    random = np.random.default_rng(seed)
    return [scaled(objective, random_motion(objective, random), pose) for _ in range(count)]


def improved_starts(
    objective: Objective, pose: Array, seed: int, budget: Budget, watch: Watch
) -> list[Array]:
    """x of the best of some random motions after their first iterations, then these motions as they
    were drawn, best first, as what to fall back on.
    """
    drawn = random_motions(objective, pose, seed, budget.drawn)
    drawn.sort(key=objective.criterion_value)
    starts = drawn[: budget.starts]
    ends = _improved(objective, starts, budget.weights[0], budget.first, watch)
    best = min(ends, key=lambda x: objective.value(x, budget.weights[1])[0])
    return [best, *drawn[:FALLBACKS]]


def finished(
    objective: Objective, x: Array, budget: Budget, watch: Watch, tightened: Tightening
) -> Array:
    """x after the last iterations, with a growing penalty. Before the last of them the limits are
    `tightened` by what the search does not see.
    """
    *middle, last = zip(budget.weights[1:], budget.last, strict=True)
    for weight, iterations in middle:
        if not watch.stopped:
            (x,) = _improved(objective, [x], weight, iterations, watch)
    if not watch.stopped:
        (x,) = _improved(tightened(objective, x), [x], *last, watch)
    return x


def _improved(
    objective: Objective, starts: list[Array], weight: float, iterations: int, watch: Watch
) -> list[Array]:
    """What so many iterations make of each start, on threads; looks for an interrupt from the
    keyboard now and then.
    """
    with one_blas_thread(), ThreadPoolExecutor(THREADS) as pool:
        runs = [pool.submit(_minimised, objective, x, weight, iterations, watch) for x in starts]
        try:
            while wait(runs, POLL).not_done:
                pass
        except BaseException:  # an end that nobody catches must not wait for all iterations
            watch.stopped = True
            raise
        return [run.result() for run in runs]


@contextmanager
def stopped_by_keyboard(watch: Watch) -> Iterator[None]:
    """An interrupt from the keyboard stops the search with what it has; a second one is an
    interrupt as ever. Only the main thread sees it.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (
        None,
        signal.SIG_IGN,
    ):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if watch.stopped and callable(before):
            before(number, frame)
        watch.stopped = True

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _minimised(
    objective: Objective, x: Array, weight: float, iterations: int, watch: Watch
) -> Array:
    """x after so many iterations of L-BFGS, or the best until it was stopped."""
    least, best = np.inf, x

    def value(z: Array) -> tuple[float, Array]:
        nonlocal least, best
        number, slope = objective.value(z, weight)
        if number < least:
            least, best = number, z.copy()
        return number, slope

    def count(z: Array) -> None:
        del z
        watch.count()

    with suppress(StopIteration):
        minimize(
            value,
            x,
            jac=True,
            method="L-BFGS-B",
            callback=count,
            options={"maxiter": iterations, "maxcor": MEMORY, "maxfun": 4 * iterations},
        )
    return best
