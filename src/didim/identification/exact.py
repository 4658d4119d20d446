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
from didim.identification.search import Halving, errors_at
from didim.identification.solve import Outcome, solve
from didim.identification.stopping import Printed, ShortStep
from didim.regression.identifiable import stationary_joints
from didim.results.formatting import scan_notes
from didim.results.prediction import Preprocessing
from didim.results.request import Progress
from didim.results.status import Failure, FailureKind, Status, StopReason
from didim.simulation.record_set import RecordSet, Window

Array = NDArray[np.float64]
Run = tuple[ClosedLoopProblem, Outcome]
"""A problem and how its iteration ended."""

RESTART_RATIO = 1.3
"""Times the noise that a residual may be before the next best start of the scan is tried."""

MAX_RESTARTS = 2

GOOD_START = 0.1
"""Residual below which the prior needs no better start."""


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

    def from_good_prior(self, progress: Progress | None = None) -> Run | None:
        """The run from the prior; None where that explains too little of the torque."""
        if stationary_joints(self.model, self.records.references):
            return None
        problem = self.problem(self.loops[0])
        found = problem.evaluate(*self._point(problem, self.first))
        if isinstance(found, Failure) or not found.residual < GOOD_START:
            return None
        del found  # long records have no room for it
        outcome = self._solve(problem, self.first, progress)
        return None if isinstance(outcome, Failure) else (problem, outcome)

    def best(
        self,
        others: Sequence[Array] = (),
        progress: Progress | None = None,
        begun: Run | None = None,
    ) -> Run | Failure:
        """The run that leaves least, or why none could be started: from the best of `others`, each
        (b,), if that leaves less than the prior, and from the prior; where `begun` is the run from
        the prior, from the best of `others` only if that leaves less than its end.
        """
        if begun is not None and self.is_explained(*begun):
            return begun
        better, worse = self._starts(others, begun)
        first = [(self.loops[0], start) for start in better[:1]]
        loops = self.loops[0 if begun is None else 1 : 1 + MAX_RESTARTS]
        usual = [*first, *((loop, self.first) for loop in loops)]
        fallback = [(self.loops[0], start) for start in worse]
        best, failure = begun, Failure(FailureKind.SIMULATION, "no start could be simulated")
        for k, (loop, start) in enumerate([*usual, *fallback]):
            if k >= len(first) and best is not None and (k >= len(usual) or self.is_final(*best)):
                break
            problem = self.problem(loop)
            outcome = self._solve(problem, start, progress)
            if isinstance(outcome, Failure):
                failure = outcome
                continue
            if best is None or outcome.residual < best[1].residual:
                best = problem, outcome
            if outcome.reason is StopReason.REQUEST:
                break
        return failure if best is None else best

    def _starts(
        self, others: Sequence[Array], begun: Run | None
    ) -> tuple[list[Array], list[Array]]:
        """Physically consistent starts (p,) near others, best first: those that leave less than the
        prior, or than the run that began there, and those that do not.
        """
        if not others:
            return [], []
        problem = self.problem(self.loops[0])
        starts = [nearest_consistent(self.prior, self.model, each) for each in others]
        points = [self._point(problem, start) for start in (self.first, *starts)]
        if begun is None:
            limit, *left = errors_at(problem, points)
        else:
            limit, left = begun[1].iterate.evaluation.rms, [*errors_at(problem, points[1:])]
        order = [k for k in np.argsort(left, kind="stable").tolist() if np.isfinite(left[k])]
        better = [starts[k] for k in order if left[k] < limit]
        return better, [starts[k] for k in order if not left[k] < limit]

    def _solve(
        self, problem: ClosedLoopProblem, theta: Array, progress: Progress | None
    ) -> Outcome | Failure:
        """One run from standard parameters theta (p,)."""
        start, limit = self._started(problem, theta), self.settings.max_iterations
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
        if not self.barrier:
            return GaussNewtonRule()
        return BarrierRule(self.prior, damps, self.stopping.length)

    def _started(self, problem: ClosedLoopProblem, theta: Array) -> Iterate | Failure:
        """Simulated and linearised at standard parameters theta (p,)."""
        began = time.perf_counter()
        iterate = self._rule.iterate(problem, *self._point(problem, theta))
        if isinstance(iterate, Failure):
            return iterate
        return replace(iterate, seconds=time.perf_counter() - began)

    def _point(self, problem: ClosedLoopProblem, theta: Array) -> tuple[Unknowns, Window]:
        """The unknowns at standard parameters theta (p,), and their rows."""
        base = self.model.matrix @ theta
        if not self.barrier and self.start is not None:
            base = self.start
        z = np.zeros(problem.robot.spread.size)
        x = Unknowns(base, theta if self.barrier else None, z)
        return x, problem.window(x, self.records.first_window, shrink=True)

    def is_explained(self, problem: ClosedLoopProblem, outcome: Outcome) -> bool:
        """Whether a run needs no other: the user stopped it, or it converged with hardly more than
        the noise.
        """
        if outcome.reason is StopReason.REQUEST:
            return True
        if outcome.reason.status is not Status.CONVERGED or self.records.outputs[0] != "tau":
            return False
        at, n = outcome.iterate, self.model.robot.n
        noise = problem.noise(at.evaluation, at.window)
        return bool(np.all(at.evaluation.by_joint[:n] <= RESTART_RATIO * noise))

    def is_final(self, problem: ClosedLoopProblem, outcome: Outcome) -> bool:
        """Whether no other start of the scan is tried: it is explained, or it converged with less
        than after the scan.
        """
        if self.is_explained(problem, outcome):
            return True
        if outcome.reason.status is not Status.CONVERGED:
            return False
        scanned = self.records.outputs[0] == "tau" and self.scanned
        return not scanned or outcome.iterate.evaluation.rms < min(scanned.values())

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
