"""When an iteration has arrived: the tests (34), as printed and in units of sigma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from didim.identification.problem import ClosedLoopProblem
from didim.identification.rules import Iterate, Step
from didim.identification.rules.regressor import parameter_scale
from didim.results.status import GuardKind

STOPPING = ("sigma", "printed")

NEAR_TOLERANCES = 5.0
"""Tolerances within which an iteration that cannot go on counts as arrived."""

BEYOND_NOISE = 2.0
"""Times the noise beyond which a residual needs an explanation."""

NO_RESIDUAL = 1e-9
"""Residual below which nothing is left to explain."""

SHORT_STEP = 0.1
"""A step whose length, in units of the standard deviations, squared, is below this has arrived."""

SHORT_STEP_PER_UNKNOWN = 0.02
"""The same for a step that could not be taken, for each unknown."""


class Stopping(Protocol):
    """What `solve` asks of a stopping rule."""

    def is_met(self, previous: Iterate, iterate: Iterate) -> bool:
        """Whether the iteration has arrived, after a step that was made."""
        ...

    def is_near(self, problem: ClosedLoopProblem, iterate: Iterate, step: Step | None) -> bool:
        """Whether an iteration that ends without that has arrived all the same; `step` is one
        that could not be taken.
        """
        ...


@dataclass(frozen=True)
class Printed:
    """(34) as printed, in absolute value: both tests, on the step that was made.

    Implements (34).
    """

    tol_residual: float
    """tol_1."""
    tol_parameters: float
    """tol_2."""

    def is_met(self, previous: Iterate, iterate: Iterate) -> bool:
        """| ||rho^(k+1)|| - ||rho^k|| | <= tol_1 ||rho^k|| and
        |chi_i^(k+1) - chi_i^k| <= tol_2 |chi_i^k|.
        """
        old, new = (np.linalg.norm(each.evaluation.errors) for each in (previous, iterate))
        change = np.abs(iterate.x.base - previous.x.base)
        return bool(
            abs(new - old) <= self.tol_residual * old
            and np.all(change <= self.tol_parameters * np.abs(previous.x.base))
        )

    def is_near(self, problem: ClosedLoopProblem, iterate: Iterate, step: Step | None) -> bool:
        """Never."""
        del problem, iterate, step
        return False


@dataclass(frozen=True)
class InSigma:
    """(34) on the step that would come next, parameters on the scale of at least fifty sigma.

    rho^k is the torque error of chi^k on its own simulation, rho^(k+1) what least squares (48)
    leaves of it there. A halved or corrected step never passes for convergence.
    """

    tol_residual: float
    """tol_1."""
    tol_parameters: float
    """tol_2."""

    def is_met(self, previous: Iterate, iterate: Iterate) -> bool:
        """Whether (48) would change neither the error nor the parameters."""
        del previous
        corrected = any(guard.kind is GuardKind.INERTIA for guard in iterate.guards)
        if iterate.fraction < 1.0 or corrected:
            return False
        if iterate.evaluation.residual < NO_RESIDUAL:
            return True
        old, new = (
            np.linalg.norm(iterate.equations.residual(values))
            for values in (iterate.x.base, iterate.proposed)
        )
        change = np.abs(iterate.proposed - iterate.x.base) / parameter_scale(iterate)
        return bool(
            abs(new - old) <= self.tol_residual * old and np.max(change) <= self.tol_parameters
        )

    def is_near(self, problem: ClosedLoopProblem, iterate: Iterate, step: Step | None) -> bool:
        """Whether only noise is left, and the next step is small."""
        del step
        change = np.abs(iterate.proposed - iterate.x.base) / parameter_scale(iterate)
        if not np.all(change <= NEAR_TOLERANCES * self.tol_parameters):
            return False
        noise = problem.noise(iterate.evaluation, iterate.window)
        return bool(np.all(iterate.evaluation.by_joint <= BEYOND_NOISE * noise))


@dataclass(frozen=True)
class ShortStep:
    """For Gauss-Newton with a merit: the full step is short in standard deviations, or several
    steps in a row hardly lowered the error.
    """

    length: float = SHORT_STEP
    """Squared, in standard deviations."""
    small_falls: int = 2
    """Steps in a row."""

    def is_met(self, previous: Iterate, iterate: Iterate) -> bool:
        """After a step."""
        del previous
        return iterate.length < self.length or iterate.small_falls == self.small_falls

    def is_near(self, problem: ClosedLoopProblem, iterate: Iterate, step: Step | None) -> bool:
        """No part of the step lowers the error, and it is short or the last fall was small."""
        del problem
        if step is None:
            return False
        short = max(SHORT_STEP, SHORT_STEP_PER_UNKNOWN * iterate.equations.W.shape[1])
        return step.length < short or iterate.small_falls > 0


@dataclass(frozen=True)
class Never:
    """All the steps that are allowed."""

    def is_met(self, previous: Iterate, iterate: Iterate) -> bool:
        """No."""
        del previous, iterate
        return False

    def is_near(self, problem: ClosedLoopProblem, iterate: Iterate, step: Step | None) -> bool:
        """No."""
        del problem, iterate, step
        return False
