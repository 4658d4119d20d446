"""Gauss-Newton steps with the exact Jacobian, (29)-(33): inside the physically consistent set, or
plain as printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.barrier import BARRIER_WEIGHT, Problem
from didim.dynamics.consistent import Consistent
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate, Step, Trial
from didim.regression.least_squares import least_squares
from didim.regression.system import compressed
from didim.results.history import EXACT, Iteration
from didim.results.status import Failure, FailureKind, Guard, GuardKind
from didim.simulation.evaluation import Evaluation
from didim.simulation.record_set import Window

Array = NDArray[np.float64]

SMALL_FALL = 1e-3
"""Relative fall of the squared error that counts as none."""


@dataclass(frozen=True)
class GaussNewtonRule:
    """Plain Gauss-Newton: x^(k+1) = x^k + the least squares solution of (33).

    Implements (27).
    """

    def iterate(self, problem: ClosedLoopProblem, x: Unknowns, window: Window) -> Iterate | Failure:
        """The records simulated and linearised at x."""
        found = problem.linearise(x, window)
        if isinstance(found, Failure):
            return found
        evaluation, system = found
        return Iterate(x, evaluation, window, problem.controller(x), system)

    def step(self, problem: ClosedLoopProblem, iterate: Iterate) -> Step:
        """delta x of (33), each joint and output weighted by its error."""
        x, b = iterate.x, problem.base.matrix.shape[0]
        weights = iterate.row_weights
        solution = least_squares(iterate.equations, weights)
        length = float(np.sum((weights * (iterate.equations.W @ solution.values)) ** 2))
        target = Unknowns(x.base + solution.values[:b], None, x.further + solution.values[b:])
        return Step(target, length=length)

    def trial_window(self, problem: ClosedLoopProblem, x: Unknowns, window: Window) -> Window:
        """The rows that the loop at x leaves."""
        return problem.window(x, window, shrink=True)

    def advance(
        self, problem: ClosedLoopProblem, iterate: Iterate, best: Iterate, trial: Trial
    ) -> Iterate | Failure:
        """Accepted wherever the simulation finishes."""
        del iterate, best
        return self.iterate(problem, trial.x, trial.window)

    def better(self, best: Iterate, iterate: Iterate) -> Iterate:
        """The last."""
        del best
        return iterate

    def entry(self, problem: ClosedLoopProblem, iterate: Iterate) -> Iteration:
        """With the gains that are estimated."""
        loop, n, found = problem.loop, problem.base.robot.n, iterate.evaluation
        gains = {kind: np.zeros(n) for kind, _ in loop.gains}
        values = loop.gain_values(problem.robot.of_loop(iterate.x.further))
        for (kind, j), value in zip(loop.gains, values, strict=True):
            gains[kind][j] = value
        return Iteration(
            iterate.x.base,
            found.residual,
            found.by_joint[:n],
            gains,
            iterate.fraction,
            iterate.guards,
            seconds=iterate.seconds,
            stage=EXACT,
        )


@dataclass(frozen=True, eq=False)
class BarrierRule(GaussNewtonRule):
    """Gauss-Newton inside the physically consistent set: (33), the log-det barrier of `barrier.py`
    and the prior of the loop's unknowns, as one convex problem; every step lowers their sum.
    """

    consistent: Consistent
    damps: bool = False
    """Whether a damped step (Levenberg-Marquardt) is tried where no part of the full one lowers the
    merit: joints that stick make the error of positions uneven.
    """
    short: float = 0.0
    """Squared length, in standard deviations, below which a step is the last: it needs no Jacobian
    of its own.
    """

    def step(self, problem: ClosedLoopProblem, iterate: Iterate) -> Step:
        """The minimum of the linearised merit, and the damped step."""
        full = self._step(problem, iterate, 0.0)
        if not self.damps:
            return full
        return replace(full, damped=lambda damping: self._step(problem, iterate, damping))

    def _step(self, problem: ClosedLoopProblem, iterate: Iterate, damping: float) -> Step:
        """The same, damped over each unknown's curvature; changes of the loop are bounded."""
        x, matrix, longest = iterate.x, problem.base.matrix, problem.robot.longest_step
        assert x.standard is not None
        weights = iterate.row_weights
        now = np.concatenate([matrix @ x.standard, x.further])
        seen, rest = compressed(iterate.equations, weights)
        R = seen
        if damping > 0:
            hold = np.diag(np.sqrt(damping) * np.linalg.norm(seen, axis=0))
            R, rest = np.vstack([seen, hold]), np.concatenate([rest, np.zeros(now.size)])
        spread = problem.robot.spread
        convex = Problem(self.consistent, matrix, R, R @ now + rest, 0.0 * spread, spread)
        theta, z = convex.solve(x.standard, x.further)
        guards: tuple[Guard, ...] = ()
        if np.any(np.abs(z - x.further) > longest):
            z = np.clip(z, x.further - longest, x.further + longest)
            theta, z = convex.solve(x.standard, z, held=np.ones(z.size, dtype=bool))
            guards = (Guard(GuardKind.GAINS),)
        step = np.concatenate([matrix @ theta, z]) - now
        length = float(np.sum((seen @ step) ** 2))
        return Step(Unknowns(matrix @ theta, theta, z), guards, length)

    def advance(
        self, problem: ClosedLoopProblem, iterate: Iterate, best: Iterate, trial: Trial
    ) -> Iterate | Failure:
        """Accepted where the merit falls, on the rows of the trial.

        A full step is mostly taken, and linearised at once; shorter ones only if they pass, and the
        last one not at all.
        """
        del best
        x, window, before = trial.x, trial.window, iterate.evaluation
        if window.samples != iterate.window.samples:
            before = problem.compare(iterate.x, iterate.evaluation.motions, window)
        start = self._merit(problem, iterate, iterate.x, before)
        rises = Failure(FailureKind.ERROR_RISES)
        found: Iterate | Failure | None = None
        if trial.fraction < 1.0 or trial.length < self.short:
            evaluation = problem.evaluate(x, window)
            if isinstance(evaluation, Failure):
                return evaluation
            if not self._merit(problem, iterate, x, evaluation) < start:
                return rises
            if trial.length < self.short:
                found = self._last(problem, iterate, x, evaluation, window)
        found = self.iterate(problem, x, window) if found is None else found
        if isinstance(found, Failure):
            return found
        fall = start - self._merit(problem, iterate, x, found.evaluation)
        if not fall > 0:
            return rises
        is_small = 2.0 * fall / iterate.equations.y.size < SMALL_FALL
        return replace(found, small_falls=iterate.small_falls + 1 if is_small else 0)

    def _last(
        self,
        problem: ClosedLoopProblem,
        iterate: Iterate,
        x: Unknowns,
        evaluation: Evaluation,
        window: Window,
    ) -> Iterate | None:
        """The end of a short step, with the Jacobian of its start; None where other rows count."""
        if window.samples != iterate.window.samples:
            return None
        system = problem.with_errors(iterate.equations, x, evaluation, window)
        if system is None:
            return None
        return Iterate(x, evaluation, window, problem.controller(x), system)

    def _merit(
        self, problem: ClosedLoopProblem, iterate: Iterate, x: Unknowns, found: Evaluation
    ) -> float:
        """What a step from `iterate` must lower: the errors in its standard deviations, the
        barrier, and the prior of z.
        """
        assert x.standard is not None
        pull = x.further / problem.robot.spread
        return (
            iterate.evaluation.loss(found)
            + BARRIER_WEIGHT * self.consistent.value(x.standard)
            + 0.5 * float(pull @ pull)
        )
