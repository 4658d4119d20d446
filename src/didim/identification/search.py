"""Along a step: how much of it is taken; and what several starts leave."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate, Rule, Step, Trial
from didim.results.status import Failure, Guard, GuardKind
from didim.simulation.record_set import Window
from didim.threads import on_threads

Array = NDArray[np.float64]

FEW_HALVINGS = 2
"""Of a step that only leads to a better start."""


@dataclass(frozen=True)
class Halving:
    """The full step, else a half, a quarter, ... of it, until the rule accepts."""

    halvings: int = 8
    """0: the full step or none, as printed."""

    def along(
        self,
        problem: ClosedLoopProblem,
        rule: Rule,
        iterate: Iterate,
        best: Iterate,
        step: Step,
    ) -> Iterate | Failure:
        """The next iterate, or why the shortest step was not accepted either."""
        began, window = time.perf_counter(), iterate.window
        guards, fraction = step.guards, 1.0
        for _ in range(self.halvings + 1):
            x = problem.between(iterate.x, step.target, fraction)
            window = rule.trial_window(problem, x, window)
            found = rule.advance(problem, iterate, best, Trial(x, window, fraction, step.length))
            if isinstance(found, Iterate):
                return replace(
                    found,
                    path=step.path,
                    fraction=fraction,
                    guards=guards,
                    length=step.length,
                    seconds=time.perf_counter() - began,
                )
            guards = (*guards, Guard(GuardKind.HALVED, failure=found))
            fraction /= 2
        return found


HALVING = Halving()


def errors_at(problem: ClosedLoopProblem, points: Sequence[tuple[Unknowns, Window]]) -> Array:
    """The error of each point on its rows; infinite where it cannot be simulated."""
    found = on_threads(lambda each: problem.evaluate(*each), points)
    return np.array([np.inf if isinstance(each, Failure) else each.rms for each in found])
