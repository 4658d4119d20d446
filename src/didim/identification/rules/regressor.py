"""DIDIM's step: least squares on the regressor of the simulated states, (41), (48). That of IV
takes this regressor for the instruments of the measured one.

A least squares step knows nothing of mechanics. With guards on, what it proposes is brought back to
the nearest feasible parameters: friction bounded by zero, M(q) positive definite. As printed, it is
taken as it is. Steps that repeat themselves are extrapolated to where they lead (Anderson).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.feasible import with_positive_inertia
from didim.control.simulated_loop import friction_ratio, gains_in_use
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate, Step, Trial
from didim.regression.anderson import extended, extrapolated
from didim.regression.least_squares import fit, with_positive_friction
from didim.results.formatting import joint_label
from didim.results.history import Iteration
from didim.results.instruments import Instruments
from didim.results.status import Failure, FailureKind, Guard, GuardKind
from didim.simulation.evaluation import Evaluation
from didim.simulation.record_set import Window

Array = NDArray[np.float64]

SCALE_SIGMAS = 50.0
"""Changes are measured against |chi_i| or this many sigma_i, whichever is larger: many parameters
start at zero.
"""

LARGEST_RISE = 1.2
"""Factor by which a guarded step may raise the weighted torque error."""


@dataclass(frozen=True)
class RegressorRule:
    """chi^(k+1) from (48) on the simulation with chi^k.

    Implements (42), (48).
    """

    weights: str = "wls"
    """Of the least squares, see `least_squares.fit`."""
    friction_guard: bool = True
    """Whether friction is bounded by zero."""
    inertia_guard: bool = True
    """Whether M(q) is kept positive definite."""
    error_guard: bool = True
    """Whether a step that raises the torque error much is refused."""
    accelerate: bool = True
    """Whether small steps that repeat themselves are extrapolated (Anderson)."""
    moves_window: bool = True
    """Whether the rows follow what the loop of each iterate needs to forget its initial state."""
    instruments: Instruments | None = None
    """The measured equations that IV solves; None: DIDIM solves the simulated ones."""

    def iterate(
        self, problem: ClosedLoopProblem, x: Unknowns, evaluation: Evaluation, window: Window
    ) -> Iterate:
        """The iterate of a simulation that was accepted, with what (48) proposes next."""
        before = window
        if self.moves_window:
            window = problem.window(x, window)
        if window.samples != before.samples:
            evaluation = problem.compare(x, evaluation.motions, window)
        if self.instruments is not None:
            system, solution = self.instruments.fit(problem.states(evaluation), x.base)
        else:
            system = problem.regressor(evaluation, window)
            solution = fit(system, self.weights)
        proposed: Array = solution.values
        held: tuple[str, ...] = ()
        if self.friction_guard:
            proposed, held = with_positive_friction(problem.base.frictional, system, solution)
        loop = problem.controller(x)
        return Iterate(x, evaluation, window, loop, system, solution, proposed, held)

    def step(self, problem: ClosedLoopProblem, iterate: Iterate) -> Step:
        """To chi^(k+1), extrapolated and brought back to feasible parameters as set."""
        model, x, target = problem.base, iterate.x, iterate.proposed
        path = iterate.path
        if self.accelerate:
            scale = parameter_scale(iterate)
            path = extended(path, x.base, target, scale)
            target = extrapolated(path, scale)
            if self.friction_guard:
                target = np.where(model.frictional, np.maximum(target, 0.0), target)
        guards = [Guard(GuardKind.FRICTION, iterate.held)] if iterate.held else []
        if self.inertia_guard:
            motions = [motion.q for motion in iterate.evaluation.motions]
            q = np.vstack([problem.records.poses, *motions])
            target, worst = with_positive_inertia(model, target, q, x.inertia)
            if worst is not None:
                guards.append(Guard(GuardKind.INERTIA, (joint_label(model, worst),)))
        return Step(Unknowns(target, None, x.further, x.inertia), tuple(guards), path=path)

    def trial_window(self, problem: ClosedLoopProblem, x: Unknowns, window: Window) -> Window:
        """That of the iterate: the rows change after a step only."""
        del problem, x
        return window

    def advance(
        self, problem: ClosedLoopProblem, iterate: Iterate, best: Iterate, trial: Trial
    ) -> Iterate | Failure:
        """Simulate the trial; accepted where that finishes and the torque error rises little."""
        found = problem.evaluate(trial.x, trial.window)
        if isinstance(found, Failure):
            return found
        if self.error_guard:
            weights = mean_joint_weights(iterate)
            now, least, new = (
                np.linalg.norm(weights * each.errors)
                for each in (iterate.evaluation, best.evaluation, found)
            )
            if new > LARGEST_RISE * min(now, least):
                return Failure(FailureKind.ERROR_RISES, "torque error would rise")
        return self.iterate(problem, trial.x, found, trial.window)

    def better(self, best: Iterate, iterate: Iterate) -> Iterate:
        """The smaller residual, on the same rows; on other rows the later one."""
        moved = best.window.samples != iterate.window.samples
        lower = iterate.evaluation.residual < best.evaluation.residual
        return iterate if moved or lower else best

    def entry(self, problem: ClosedLoopProblem, iterate: Iterate) -> Iteration:
        """With gains, distances of the motion (Fig. 11) and the friction ratio."""
        model, x, found = problem.base, iterate.x, iterate.evaluation
        records, motions, loop = problem.records, found.motions, iterate.controller
        assert loop is not None
        assert x.inertia is not None
        return Iteration(
            x.base,
            found.residual,
            found.by_joint,
            gains_in_use(model, loop, x.inertia),
            iterate.fraction,
            iterate.guards,
            records.distance_to_reference(motions, iterate.window),
            records.distance_to_measured(motions, iterate.window),
            iterate.seconds,
            friction_ratio=friction_ratio(model, x.base, loop, x.inertia),
        )


def mean_joint_weights(iterate: Iterate) -> Array:
    """(n,) mean weight of each joint's rows in (48)."""
    assert iterate.solution is not None
    weights, joint = iterate.solution.weights, iterate.equations.joint
    means = [
        np.mean(weights[joint == j]) if np.any(joint == j) else 0.0
        for j in range(iterate.equations.n)
    ]
    return np.array(means)


def parameter_scale(iterate: Iterate) -> Array:
    """(b,) size of each parameter: its value, or fifty sigma where that is larger."""
    solution, base = iterate.solution, iterate.x.base
    assert solution is not None
    rho = solution.weights * iterate.equations.residual(base)
    variance = float(rho @ rho) / max(rho.size - solution.rank, 1)
    sigma = np.sqrt(np.diag(solution.inverse) * variance)
    scale = np.maximum(np.abs(base), SCALE_SIGMAS * sigma)
    return np.where(scale > 0, scale, 1.0)
