"""`ClosedLoopProblem`: the torque (or position) error of the simulated records as a function of x,
and its two linearisations: the regressor (41) and the exact Jacobian (30).

A problem never changes. Which rows count depends on the simulated loop, so that their window
belongs to the iterate and is handed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import SimulatedLoop
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.regression.system import LinearSystem, observe, rows_of, stack
from didim.results.status import Failure, FailureKind
from didim.signals.experiment import measured_torque
from didim.signals.states import States
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.evaluation import (
    Evaluation,
    compare,
    noise_fraction,
    output_error,
    used_rows,
)
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest, prepared, refuse_self_locking
from didim.simulation.record_set import RecordSet, Window
from didim.simulation.simulated_robot import SimulatedRobot
from didim.threads import on_threads
from didim.validation import LARGEST_NUMBER

Array = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Unknowns:
    """x: what is estimated, and the inertia that the gains follow."""

    base: Array
    """(b,) base parameters, chi."""
    standard: Array | None = None
    """(p,) physically consistent standard parameters behind them, for rules that work in these."""
    further: Array = field(default_factory=lambda: np.zeros(0))
    """(e,) z of `SimulatedRobot`: shapes, logarithms of gain factors, delay."""
    inertia: Array | None = None
    """(n,) J of (51), where the loop is retuned for it (59)."""


@dataclass(frozen=True, eq=False)
class ClosedLoopProblem:
    """A model, its records and the loop that they are simulated in."""

    model: TorqueModel
    records: RecordSet
    loop: SimulatedLoop

    @cached_property
    def base(self) -> BaseModel:
        """The model, which but for the very first simulation is one of base parameters."""
        assert isinstance(self.model, BaseModel)
        return self.model

    @cached_property
    def robot(self) -> SimulatedRobot:
        """Model and loop as functions of x.further."""
        return SimulatedRobot(self.model, self.loop)

    def controller(self, x: Unknowns) -> Controller | None:
        """The loop at x."""
        return self.robot.controller(x.further, x.inertia)

    def held(self, x: Unknowns) -> ClosedLoopProblem:
        """The same problem with the shapes at x, known."""
        return replace(self, model=self.robot.model(x.further).with_held_shapes())

    def inertia(self, base: Array, previous: Array) -> Array:
        """J (n,) of (51) that the loop is retuned for; the previous one where gains are given."""
        loop = self.loop.controller
        follows = loop is not None and (loop.by_poles or self.loop.follows_inertia)
        return largest_inertias(self.model, base, previous) if follows else previous

    def between(self, x: Unknowns, target: Unknowns, fraction: float) -> Unknowns:
        """The point at a fraction of the way from x to the target, both of the same kind."""
        further = x.further + fraction * (target.further - x.further)
        if x.standard is not None and target.standard is not None:
            standard = x.standard + fraction * (target.standard - x.standard)
            return Unknowns(self.base.matrix @ standard, standard, further)
        base = x.base + fraction * (target.base - x.base)
        inertia = None if x.inertia is None else self.inertia(base, x.inertia)
        return Unknowns(base, None, further, inertia)

    def window(self, x: Unknowns, window: Window, shrink: bool = False) -> Window:
        """The rows that the loop at x leaves, from those of another window."""
        return self.records.window_for(
            self.robot.model(x.further), x.base, self.controller(x), window, shrink
        )

    def evaluate(self, x: Unknowns, window: Window) -> Evaluation | Failure:
        """Simulate all records with x, and compare them on the window (35)."""

        def run(k: int, request: SimulationRequest) -> Motion | Failure:
            del k
            motion = prepared(request).fixed(None)
            if not motion.completed:
                return _failure(motion)
            return motion.with_signals(request.model, x.base, request.signals)

        found = self._each(x, run)
        return found if isinstance(found, Failure) else self.compare(x, tuple(found), window)

    def compare(self, x: Unknowns, motions: tuple[Motion, ...], window: Window) -> Evaluation:
        """Motions simulated with x beside the records, on the rows of a window."""
        return compare(self.records, motions, window, self.robot.shift(x.further))

    def noise(self, evaluation: Evaluation, window: Window) -> Array:
        """(n,) fraction of each joint's torque that is noise; 0: unknown."""
        return noise_fraction(self.records, evaluation, window)

    def states(self, evaluation: Evaluation) -> tuple[States, ...]:
        """The simulated motions, at the samples of the records."""
        found, contacts = [], len(self.model.contacts)
        for motion in evaluation.motions:
            slip = motion.slip if motion.slip.shape[1] == contacts else None
            found.append(States(motion.q, motion.dq, motion.ddq, slip, motion.signals))
        return tuple(found)

    def regressor(self, evaluation: Evaluation, window: Window) -> LinearSystem:
        """Y = W chi + rho, W of the simulated states: the regressor for the Jacobian (41).

        Implements (37), (41), (44)-(47).
        """
        systems, selection = [], self.records.torque_selection
        for k, states in enumerate(self.states(evaluation)):
            tau, samples = measured_torque(self.records.records[k]), window.samples[k]
            systems.append(observe(self.base, states, tau, selection, samples, k))
        return stack(systems)

    def linearise(self, x: Unknowns, window: Window) -> tuple[Evaluation, LinearSystem] | Failure:
        """Simulate all records with x and their sensitivities: rho = J step + rest, J (r, m) exact,
        in base parameters and z, rho = Y - Y_s.

        Implements (29), (31), (32).
        """

        def run(k: int, request: SimulationRequest) -> tuple[Motion, LinearSystem] | Failure:
            return self._linearised_record(x, request, k, window)

        found = self._each(x, run)
        if isinstance(found, Failure):
            return found
        system = stack([system for _, system in found])
        if system.y.size <= len(system.names):
            return Failure(
                FailureKind.FEW_EQUATIONS,
                f"only {system.y.size} equations remain for {len(system.names)} unknowns "
                "(rest_velocity? decimation?)",
            )
        if x.further.size:
            factors = np.concatenate([np.ones(x.base.size), self.robot.factors(x.further)])
            system = replace(system, W=system.W * factors)
        return self.compare(x, tuple(motion for motion, _ in found), window), system

    def with_errors(
        self, equations: LinearSystem, x: Unknowns, evaluation: Evaluation, window: Window
    ) -> LinearSystem | None:
        """The equations of a point next to x, of the same window, with the errors at x; None where
        other rows count, as joints at rest may be others.
        """
        found, shift = [], self.robot.shift(x.further)
        for k, motion in enumerate(evaluation.motions):
            rho, _ = output_error(self.records, k, motion, window, shift)
            used = used_rows(self.records, motion, window.samples[k])
            found.append(rows_of(np.zeros((*rho.shape, 0)), rho, used, (), k, np.ones(1)))
        errors = stack(found)
        same = all(
            np.array_equal(getattr(errors, name), getattr(equations, name))
            for name in ("joint", "series", "index")
        )
        return replace(equations, y=errors.y) if same else None

    def _linearised_record(
        self, x: Unknowns, request: SimulationRequest, k: int, window: Window
    ) -> tuple[Motion, LinearSystem] | Failure:
        """One record simulated with its sensitivities."""
        records, loop, samples = self.records, self.loop, window.samples[k]
        unknowns = (*loop.gain_names, *loop.offset_names), loop.has_delay
        decimator = records.selection.decimator
        alone = len(records.records) == 1
        run = decimated_sensitivities(
            request, *unknowns, records.outputs, decimator, samples, alone=alone
        )
        if not run.motion.completed:
            return _failure(run.motion)
        if not max(run.J.max(initial=0.0), -run.J.min(initial=0.0)) < LARGEST_NUMBER:
            detail = "the sensitivities diverge; is the loop stable?"
            return Failure(FailureKind.SENSITIVITIES, detail)
        rho, _ = output_error(records, k, run.motion, window, self.robot.shift(x.further))
        used, names = used_rows(records, run.motion, samples), self.robot.names
        affine, extra = self.base.affine, len(names) - len(self.base.parameter_names)
        steps = None if affine is None else affine.steps(extra)
        motion = run.motion.with_signals(request.model, request.parameters, request.signals)
        J = loop.output_columns(run.J, records.outputs, records.n)
        return motion, rows_of(J, rho, used, names, k, decimator.correlation, steps)

    def _requests(self, x: Unknowns) -> list[SimulationRequest]:
        """All records as `didim.simulate` takes them; refused before the first is simulated where
        one of them cannot be.
        """
        model, loop, z = self.robot.model(x.further), self.controller(x), x.further
        delay, zero = self.robot.delay(z), self.robot.zero(z)
        count = range(len(self.records.records))
        found = [self.records.request(k, model, x.base, loop, delay, zero) for k in count]
        for each in found:
            refuse_self_locking(each)
        return found

    def _each(
        self, x: Unknowns, run: Callable[[int, SimulationRequest], T | Failure]
    ) -> list[T] | Failure:
        """Run all records at x, on as many threads as there are processors; the first failure, if
        any failed.
        """
        try:
            requests = self._requests(x)
            if len(requests) == 1:
                found = [run(0, requests[0])]
            else:
                found = on_threads(run, range(len(requests)), requests)
        except InputError as problem:  # too stiff a loop, at parameters that nobody gave
            return Failure(FailureKind.SIMULATION, str(problem))
        failures = [each for each in found if isinstance(each, Failure)]
        return failures[0] if failures else [e for e in found if not isinstance(e, Failure)]


def _failure(motion: Motion) -> Failure:
    """Of a simulation that did not reach its end."""
    end = float(motion.t[-1]) if motion.t.size else None
    return Failure(FailureKind.SIMULATION, motion.message, end)
