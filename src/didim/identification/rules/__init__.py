"""Where the next step comes from. A rule proposes, the search along it accepts: `solve.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.regression.anderson import Path
from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem
from didim.results.history import Iteration
from didim.results.status import Failure, Guard
from didim.simulation.evaluation import Evaluation
from didim.simulation.record_set import Window

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Iterate:
    """An accepted x^k: its simulation, its rows, its linear system, and how it was reached."""

    x: Unknowns
    evaluation: Evaluation
    window: Window
    controller: Controller | None
    """The simulated loop."""
    system: LinearSystem | None = None
    """Y = W chi + rho (48), or rho = J step + rest (33); None where the rule builds it later."""
    solution: Solution | None = None
    """Of (48); None for rules that solve the system otherwise."""
    proposed: Array = field(default_factory=lambda: np.zeros(0))
    """(b,) chi^(k+1) of (48), with friction bounded by zero where guards are on."""
    held: tuple[str, ...] = ()
    """Friction parameters that are at that bound."""
    path: Path = ()
    """For `extrapolated`."""
    fraction: float = 1.0
    """Of the full step that led here."""
    guards: tuple[Guard, ...] = ()
    """What changed that step."""
    length: float = np.inf
    """Squared length of the full step that led here, in standard deviations of the unknowns."""
    small_falls: int = 0
    """Steps in a row, up to here, that hardly lowered the error."""
    seconds: float = 0.0

    @property
    def equations(self) -> LinearSystem:
        """The linear system, where the rule has built it."""
        assert self.system is not None
        return self.system

    @property
    def row_weights(self) -> Array:
        """(r,) 1 over the error of each equation's joint and output, with robust factors."""
        weights, factors = self.weights
        return weights if factors is None else weights * factors

    @property
    def weights(self) -> tuple[Array, Array | None]:
        """(r,) 1 over that error, and by how much outlying rows count less; None: not at all."""
        joint, found = self.equations.joint, self.evaluation
        return (1.0 / found.deviations)[joint], found.robust_factors(self.equations.y, joint)


@dataclass(frozen=True, eq=False)
class Step:
    """Where a rule wants to go."""

    target: Unknowns
    guards: tuple[Guard, ...] = ()
    length: float = np.inf
    """Squared, in standard deviations of the unknowns."""
    path: Path = ()
    damped: Callable[[float], Step] | None = None
    """A step that turns towards steepest descent, for where no part of this one is accepted."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A point on the way to the target."""

    x: Unknowns
    window: Window
    """The rows that it is judged on."""
    fraction: float
    """Of the full step."""
    length: float = np.inf
    """Of the full step, squared, in standard deviations of the unknowns."""


class Rule(Protocol):
    """What `solve` asks of a rule."""

    def step(self, problem: ClosedLoopProblem, iterate: Iterate) -> Step:
        """The full step from an iterate."""
        ...

    def advance(
        self, problem: ClosedLoopProblem, iterate: Iterate, best: Iterate, trial: Trial
    ) -> Iterate | Failure:
        """The iterate at a trial, or why it is not accepted."""
        ...

    def trial_window(self, problem: ClosedLoopProblem, x: Unknowns, window: Window) -> Window:
        """The rows that a trial at x is judged on."""
        ...

    def better(self, best: Iterate, iterate: Iterate) -> Iterate:
        """Which of the two is kept as the best so far."""
        ...

    def entry(self, problem: ClosedLoopProblem, iterate: Iterate) -> Iteration:
        """The iterate's line of the history."""
        ...
