"""Figure 5: one Gauss-Newton iteration on the error of the simulated output, for every method.

DIDIM takes the regressor for the Jacobian (41), the exact method keeps the term that (39) drops;
they differ in the rule, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from didim.identification.problem import ClosedLoopProblem
from didim.identification.rules import Iterate, Rule
from didim.identification.search import Halving
from didim.identification.stopping import Stopping
from didim.results.history import Iteration
from didim.results.status import ENDINGS, Failure, FailureKind, StopReason

Progress = Callable[[float], Any]

DAMPINGS = (3.0, 30.0, 300.0)
"""Of steps that are tried one after the other, over each unknown's curvature."""

DAMPED_HALVINGS = 1
"""Of damped steps, which are short."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """How an iteration ended."""

    iterate: Iterate
    """The last one where it converged, else the best."""
    reason: StopReason
    history: tuple[Iteration, ...]
    """The start and every step."""
    failure: Failure | None = None
    """Why no step was possible, where that is the reason."""

    @property
    def steps(self) -> int:
        """Steps taken."""
        return len(self.history) - 1

    @property
    def residual(self) -> float:
        """||Y - Y_s|| / ||Y|| at the end."""
        return self.iterate.evaluation.residual

    @property
    def ending(self) -> str:
        """How it ended, as a sentence."""
        return ENDINGS[self.reason].format(steps=self.steps, failure=self.failure)


def solve(
    problem: ClosedLoopProblem,
    rule: Rule,
    search: Halving,
    stopping: Stopping,
    start: Iterate,
    limit: int,
    progress: Progress | None = None,
) -> Outcome:
    """Iterate from `start`, at most `limit` steps; `progress` gets the fraction done.

    An iterate has a simulated record and its equations. None is kept longer than it is needed: long
    records have room for two.
    """
    history, iterate, best = [rule.entry(problem, start)], start, start
    del start
    reason, failure, step = StopReason.LIMIT, None, None
    for k in range(1, limit + 1):
        step = rule.step(problem, iterate)  # linear least squares: (48), or (33)
        found = search.along(problem, rule, iterate, best, step)  # simulate in the loop, (21)-(26)
        for damping in DAMPINGS:
            if isinstance(found, Failure) and step.damped is not None:
                shorter = step.damped(damping)
                found = Halving(DAMPED_HALVINGS).along(problem, rule, iterate, best, shorter)
        if isinstance(found, Failure):
            reason, failure = StopReason.NO_STEP, found
            break
        previous, iterate = iterate, found
        best = rule.better(best, iterate)
        history.append(rule.entry(problem, iterate))
        if stopping.is_met(previous, iterate):  # (34)
            return Outcome(iterate, StopReason.TOLERANCES, tuple(history))
        del previous, found
        if progress is not None and _declines(progress(k / limit)):
            return Outcome(best, StopReason.REQUEST, tuple(history))
    untaken = step if reason is StopReason.NO_STEP else None
    uneven = failure is not None and failure.kind is FailureKind.ERROR_RISES
    if stopping.is_near(problem, best, untaken) or (uneven and step and step.damped):
        reason = StopReason.NOISE_FLOOR
    return Outcome(best, reason, tuple(history), failure)


def _declines(answer: object) -> bool:
    """Whether a progress callback asks to stop: it returned something false, but not None."""
    return answer is not None and not np.all(answer)  # type: ignore[call-overload]
