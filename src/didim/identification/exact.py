"""The exact method: Gauss-Newton with the exact Jacobian from a physically consistent prior, over
parameters and, if asked, gains and delay; for `OutputError` and for a DIDIM that is refined.

`best_run.py` chooses where it starts, `exact_estimate.py` makes the estimate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller, Gains
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
from didim.identification.search import Halving
from didim.identification.solve import Outcome, solve
from didim.identification.stopping import Printed, ShortStep
from didim.results.formatting import scan_notes
from didim.results.prediction import Preprocessing
from didim.results.request import Progress
from didim.results.status import Failure, Status
from didim.simulation.record_set import RecordSet, Window

Array = NDArray[np.float64]


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
        return scan_bandwidth(self.beginning(loop), self.prior, self.first)

    def beginning(self, loop: Controller) -> ClosedLoopProblem:
        """The parameters alone, in a loop with these gains, on the beginning of the records."""
        model = self.model.with_held_shapes()
        return ClosedLoopProblem(model, self.records.beginning, SimulatedLoop(loop))

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
        gains = self.gains_of(loop)
        self.simulated(loop)  # refuses names of gains that the law does not have
        if np.any(gains.kv < 0):
            raise InputError(
                "estimate_gains needs positive drive gains: turn the sign of that joint's control "
                "signal."
            )
        return loop.with_gains(gains)

    def gains_of(self, loop: Controller) -> Gains:
        """Its gains as numbers."""
        J = largest_inertias(self.model, self.model.matrix @ self.first)
        return numeric_gains(self.model, loop, assumed_inertia(loop, J))

    def problem(self, loop: Controller | None) -> ClosedLoopProblem:
        """The problem in one of the loops."""
        return ClosedLoopProblem(self.model, self.records, self.simulated(loop))

    def simulated(self, loop: Controller | None) -> SimulatedLoop:
        """One of the loops with its unknowns."""
        which, unknown, drive = self.settings.estimate_gains, None, None
        if which and loop is not None:
            unknown, drive = self.gains_of(loop), drive_gains(self.model, loop, which)
        return SimulatedLoop(loop, False, unknown, which, self.has_delay, drive, self.offsets)

    def run(
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
        iterate = self._rule.iterate(problem, *self.point(problem, theta))
        if isinstance(iterate, Failure):
            return iterate
        return replace(iterate, seconds=time.perf_counter() - began)

    def point(self, problem: ClosedLoopProblem, theta: Array) -> tuple[Unknowns, Window]:
        """The unknowns at standard parameters theta (p,), and their rows."""
        base = self.model.matrix @ theta
        if not self.barrier and self.start is not None:
            base = self.start
        z = np.zeros(problem.robot.spread.size)
        x = Unknowns(base, theta if self.barrier else None, z)
        return x, problem.window(x, self.records.first_window, shrink=True)

    @property
    def scan_notes(self) -> tuple[str, ...]:
        """What the scan found, and where it had the iteration start."""
        return scan_notes(self.scanned)
