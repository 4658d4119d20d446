"""The scan of the loop's bandwidth, where its gains are unknown.

At each factor on the assumed bandwidth a few steps of DIDIM are taken inside the physically
consistent set. The torque error that they leave rises steadily away from the true bandwidth: the
scan goes downhill from the assumed one, by factors of two; away from loops that cannot be simulated
at all, towards slower ones, and from those that move nothing, towards stiffer ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.simulated_loop import SimulatedLoop
from didim.dynamics.barrier import Problem
from didim.dynamics.consistent import Consistent
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate, Step
from didim.identification.rules.regressor import RegressorRule
from didim.identification.search import FEW_HALVINGS, Halving
from didim.identification.solve import solve
from didim.identification.stopping import Never
from didim.regression.system import compressed
from didim.results.history import Iteration
from didim.results.status import Failure
from didim.simulation.evaluation import Evaluation
from didim.simulation.record_set import Window
from didim.threads import on_threads

Array = NDArray[np.float64]

SCAN_RATIO = 2.0
"""Between neighbouring factors on the bandwidth."""

SCAN_REACH = 7
"""Ratios that the scan goes from the assumed bandwidth, either way."""

SCAN_STEPS = 3
"""Of DIDIM at each factor."""

SOFT_LOOP_RESIDUAL = 0.8
"""Fraction of the torque that a far too soft loop leaves, whatever its bandwidth: only a stiffer
one can do better.
"""


def scan_bandwidth(
    problem: ClosedLoopProblem, consistent: Consistent, standard: Array
) -> dict[float, float]:
    """The torque error, rms over the joints, at each factor on the bandwidth of the problem's loop;
    infinite where nothing can be simulated.
    """
    found: dict[int, float] = {}
    visited = {0}

    def left(k: int) -> float:
        return error_with(problem, problem.loop.faster(SCAN_RATIO**k), consistent, standard)

    def error(k: int, *others: int) -> float:
        missing = [each for each in (k, *others) if each not in found]
        found.update(zip(missing, on_threads(left, missing), strict=True))
        return found[k]

    best = 0
    while abs(best) < SCAN_REACH:
        near = best - 1
        if np.isfinite(error(best)):
            error(best - 1, best + 1)  # by two threads
            near = min((best - 1, best + 1), key=error)
        if SOFT_LOOP_RESIDUAL < error(best) < np.inf and error(near) > SOFT_LOOP_RESIDUAL:
            near = best + 1
        elif error(near) >= error(best) and np.isfinite(error(best)):
            break
        best = near
        if best in visited:
            break
        visited.add(best)
    return {SCAN_RATIO**k: value for k, value in sorted(found.items())}


def error_with(
    problem: ClosedLoopProblem,
    loop: SimulatedLoop,
    consistent: Consistent,
    standard: Array,
    steps: int = SCAN_STEPS,
) -> float:
    """The torque error, rms over the joints, after a few steps in another loop; infinite where not
    even the start can be simulated.
    """
    other, rule = replace(problem, loop=loop), ConsistentRegressorRule(consistent=consistent)
    x = Unknowns(problem.base.matrix @ standard, standard)
    window = other.window(x, problem.records.first_window)
    first = other.evaluate(x, window)
    if isinstance(first, Failure):
        return np.inf
    start = rule.iterate(other, x, first, window)
    cheap = replace(other, records=other.records.not_stiff)
    return solve(cheap, rule, Halving(FEW_HALVINGS), Never(), start, steps).iterate.evaluation.rms


@dataclass(frozen=True, eq=False, kw_only=True)
class ConsistentRegressorRule(RegressorRule):
    """(48) inside the physically consistent set, accepted wherever the simulation finishes."""

    consistent: Consistent
    error_guard: bool = False

    def iterate(
        self, problem: ClosedLoopProblem, x: Unknowns, evaluation: Evaluation, window: Window
    ) -> Iterate:
        """The iterate of a simulation; its equations are built when it is left."""
        return Iterate(x, evaluation, window, problem.controller(x))

    def step(self, problem: ClosedLoopProblem, iterate: Iterate) -> Step:
        """The minimum of (48) and the barrier."""
        x, matrix, none = iterate.x, problem.base.matrix, np.zeros(0)
        assert x.standard is not None
        system = problem.regressor(iterate.evaluation, iterate.window)
        R, target = compressed(system, system.error_weights(x.base))
        barrier = Problem(self.consistent, matrix, R, target, none, none)
        standard, _ = barrier.solve(x.standard, none)
        return Step(Unknowns(matrix @ standard, standard, x.further))

    def better(self, best: Iterate, iterate: Iterate) -> Iterate:
        """The smaller error, rms over the joints."""
        return iterate if iterate.evaluation.rms < best.evaluation.rms else best

    def entry(self, problem: ClosedLoopProblem, iterate: Iterate) -> Iteration:
        """Parameters and residual."""
        del problem
        found = iterate.evaluation
        return Iteration(iterate.x.base, found.residual, found.by_joint, {}, iterate.fraction)
