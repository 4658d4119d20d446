"""The exact method: Gauss-Newton with the exact Jacobian from a physically consistent prior, over
parameters and, if asked, gains and delay; for `OutputError` and for a DIDIM that is refined.

`exact_estimate.py` makes the estimate of the best run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.loop_prior import loop_prior
from didim.control.simulated_loop import (
    SimulatedLoop,
    assumed_inertia,
    drive_gains,
    numeric_gains,
)
from didim.control.tuning import largest_inertias
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.dynamics.prior import nearest_consistent
from didim.errors import InputError
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate
from didim.identification.rules.gauss_newton import BarrierRule, GaussNewtonRule
from didim.identification.scan import scan_bandwidth
from didim.identification.search import Halving, Start, best_first
from didim.identification.solve import Outcome, solve
from didim.identification.stopping import Printed, ShortStep
from didim.results.formatting import scan_notes
from didim.results.prediction import Preprocessing
from didim.results.request import Progress
from didim.results.status import Failure, FailureKind, Status, StopReason
from didim.simulation.record_set import RecordSet

Array = NDArray[np.float64]

RESTART_RATIO = 1.3
"""Times the noise that a residual may be before the next best start of the scan is tried."""

MAX_RESTARTS = 2


@dataclass(frozen=True, eq=False)
class ExactMethod:
    """One run: model, records and settings; what follows from them is computed once."""

    name: str
    """Of the method, in the estimate."""
    settings: Any
    """The method that runs it: `estimate_gains`, `max_iterations` and, without the barrier, the
    tolerances are read from it.
    """
    model: BaseModel
    records: RecordSet
    controller: Controller | None
    """The loop as assumed; None: open loop."""
    preprocessing: Preprocessing
    has_delay: bool
    """Whether a delay of the reference is estimated."""
    scans: bool
    """Whether unknown gains are first looked for by a scan of the bandwidth."""
    offsets: tuple[tuple[str, int], ...] = ()
    """Kind and joint of the zeros and biases that are estimated."""
    barrier: bool = True
    """False: plain Gauss-Newton, (29)-(34)."""
    start: Array | None = None
    """(b,) base parameters to start near; None: the prior."""
    output: str = "torque"
    stopping: ShortStep = field(default_factory=ShortStep)
    """With the barrier."""
    settles_window: bool = False
    """Whether the last steps use the rows of the final loop, so that they do not depend on the
    start.
    """

    @cached_property
    def prior(self) -> Consistent:
        """The physically consistent set, its barrier centred on the described or generic robot: the
        minimum does not depend on where the iteration starts.
        """
        return loop_prior(self.model, self.controller, self.records.sizes)

    @cached_property
    def first(self) -> Array:
        """(p,) where the first iteration starts."""
        if self.start is None:
            return self.prior.prior
        return nearest_consistent(self.prior, self.model, self.start)

    @cached_property
    def scanned(self) -> dict[float, float]:
        """The torque error at each factor on the assumed bandwidth; empty where it is not asked."""
        loop = self._numeric_loop
        if not (self.settings.estimate_gains is True and self.scans) or loop is None:
            return {}
        model = self.model.with_held_shapes()
        problem = ClosedLoopProblem(model, self.records.beginning, SimulatedLoop(loop))
        return scan_bandwidth(problem, self.prior, self.first)

    @cached_property
    def loops(self) -> list[Controller | None]:
        """The loops to start with, best first: as assumed, or at the factors of the scan."""
        loop = self._numeric_loop
        order = [factor for factor, error in self.scanned.items() if np.isfinite(error)]
        if loop is None or not order:
            return [loop]
        order.sort(key=lambda factor: self.scanned[factor])
        return [loop.faster(factor) for factor in order]

    @cached_property
    def _numeric_loop(self) -> Controller | None:
        """The assumed loop, with numbers for its gains where they are estimated."""
        loop = self.controller
        if not self.settings.estimate_gains or loop is None:
            return loop
        gains = self._gains(loop)
        self.simulated(loop)  # refuses names of gains that the law does not have
        if np.any(gains.kv < 0):
            raise InputError(
                "estimate_gains needs positive drive gains: turn the sign of that joint's control "
                "signal."
            )
        return loop.with_gains(gains)

    def _gains(self, loop: Controller) -> Any:
        J = largest_inertias(self.model, self.model.matrix @ self.first)
        return numeric_gains(self.model, loop, assumed_inertia(loop, J))

    def problem(self, loop: Controller | None) -> ClosedLoopProblem:
        """The problem in one of the loops."""
        return ClosedLoopProblem(self.model, self.records, self.simulated(loop))

    def simulated(self, loop: Controller | None) -> SimulatedLoop:
        """One of the loops with its unknowns."""
        which, unknown, drive = self.settings.estimate_gains, None, None
        if which and loop is not None:
            unknown, drive = self._gains(loop), drive_gains(self.model, loop, which)
        return SimulatedLoop(loop, False, unknown, which, self.has_delay, drive, self.offsets)

    def best(
        self, others: Sequence[Array] = (), progress: Progress | None = None
    ) -> tuple[ClosedLoopProblem, Outcome] | Failure:
        """The run that leaves least, or why none could be started."""
        other_starts = [nearest_consistent(self.prior, self.model, each) for each in others]
        starts, best = [self.first, *other_starts], None
        failure = Failure(FailureKind.SIMULATION, "no start could be simulated")
        tries = [(self.loops[0], starts)]
        tries += [(loop, starts[:1]) for loop in self.loops[: 1 + MAX_RESTARTS]]
        for k, (loop, several) in enumerate(tries):
            if k == 1 and (len(starts) == 1 or (best is not None and self._is_first(best[1]))):
                continue  # this was the first try
            problem = self.problem(loop)
            outcome = self._solve(problem, several, progress)
            if isinstance(outcome, Failure):
                failure = outcome
                continue
            if best is None or outcome.residual < best[1].residual:
                best = problem, outcome
            if outcome.reason is StopReason.REQUEST or self._is_enough(*best):
                break
        return failure if best is None else best

    def _solve(
        self, problem: ClosedLoopProblem, starts: Sequence[Array], progress: Progress | None
    ) -> Outcome | Failure:
        start, limit = self._started(problem, starts), self.settings.max_iterations
        if isinstance(start, Failure):
            return start
        handed_over = [start]
        del start  # `solve` drops it after the first step
        if not self.barrier:
            printed = Printed(self.settings.tol_residual, self.settings.tol_parameters)
            return solve(
                problem, self._rule, Halving(0), printed, handed_over.pop(), limit, progress
            )
        outcome = solve(
            problem, self._rule, Halving(), self.stopping, handed_over.pop(), limit, progress
        )
        return self._with_own_window(problem, outcome) if self.settles_window else outcome

    def _with_own_window(self, problem: ClosedLoopProblem, outcome: Outcome) -> Outcome:
        """The outcome on the rows that its own loop needs, whatever loops led to it."""
        x, limit = outcome.iterate.x, max(self.settings.max_iterations - outcome.steps, 1)
        window = problem.window(x, self.records.first_window)
        converged = outcome.reason.status is Status.CONVERGED
        if not converged or window.samples == outcome.iterate.window.samples:
            return outcome
        records = replace(self.records, transient=window.transient)
        fixed = replace(problem, records=records)
        start = self._rule.iterate(fixed, x, window)
        if isinstance(start, Failure):
            return outcome
        end = solve(fixed, self._rule, Halving(), self.stopping, start, limit)
        settled = end.reason.status is Status.CONVERGED
        return replace(end, history=(*outcome.history, *end.history[1:])) if settled else outcome

    @property
    def _rule(self) -> GaussNewtonRule:
        damps = self.records.outputs == ("q",)
        return BarrierRule(self.prior, damps) if self.barrier else GaussNewtonRule()

    def _started(self, problem: ClosedLoopProblem, starts: Sequence[Array]) -> Iterate | Failure:
        """The start, standard parameters (p,), that leaves least; of several, each is simulated,
        and the best one that can be is linearised.
        """
        tried: list[Start] = []
        window, z = self.records.first_window, np.zeros(problem.robot.spread.size)
        for theta in starts:
            began = time.perf_counter()
            base = self.model.matrix @ theta
            if not self.barrier and self.start is not None:
                base = self.start
            x = Unknowns(base, theta if self.barrier else None, z)
            window = problem.window(x, window, shrink=True)
            tried.append((x, window, began))
        failure = Failure(FailureKind.SIMULATION)
        for x, own, began in best_first(problem, tried):
            iterate = self._rule.iterate(problem, x, own)
            if isinstance(iterate, Iterate):
                return replace(iterate, seconds=time.perf_counter() - began)
            failure = iterate
        return failure

    def _is_first(self, outcome: Outcome) -> bool:
        """Whether a run started from the first start."""
        return np.array_equal(outcome.history[0].parameters, self.model.matrix @ self.first)

    def _is_enough(self, problem: ClosedLoopProblem, outcome: Outcome) -> bool:
        """Whether a run converged with hardly more than the noise, or at least less than after the
        scan.
        """
        if outcome.reason.status is not Status.CONVERGED:
            return False
        if self.records.outputs[0] != "tau":
            return True
        at, n = outcome.iterate, self.model.robot.n
        noise = problem.noise(at.evaluation, at.window)
        explained = np.all(at.evaluation.by_joint[:n] <= RESTART_RATIO * noise)
        return bool(explained or at.evaluation.rms < min(self.scanned.values(), default=np.inf))

    def error_with_other_reference(self) -> tuple[float, float] | None:
        """The same law with or without the reference's velocity, its gains fitted too."""
        loop = self.controller
        parts = np.unique([] if loop is None else np.asarray(loop.velocity_reference, dtype=float))
        if loop is None or loop.model_term != "none" or parts.size != 1 or parts[0] not in (0, 1):
            return None
        other = float(1.0 - parts[0])
        law = replace(loop, velocity_reference=other)
        found = replace(self, controller=law, start=None).best()
        return None if isinstance(found, Failure) else (other, found[1].iterate.evaluation.rms)

    @property
    def scan_notes(self) -> tuple[str, ...]:
        """What the scan found, and where it had the iteration start."""
        return scan_notes(self.scanned)
