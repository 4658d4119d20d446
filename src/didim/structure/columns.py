"""The columns of suspects beside those of what was estimated, at the rows of the fit.

In the loop, a torque s that the robot needs more is a disturbance, and the loop's answer is its
column. A command c is a disturbance -c; in a recorded torque it shows at once as well, and its
column is the answer plus c.
Along a measured motion, the column is s itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import Law
from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.regression.system import LinearSystem, rows_of, stack
from didim.signals.reference import Reference
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.evaluation import compare, output_error, used_rows
from didim.simulation.motion import Motion
from didim.simulation.prepare import prepared
from didim.simulation.record_set import RecordSet, Window
from didim.structure.suspect import Course, Suspect
from didim.structure.torques import SuspectTorques
from didim.threads import on_threads

Array = NDArray[np.float64]

LONG = 50_000
"""Samples of one record beyond which its sensitivities have two threads; the tests of the residual
run beside them, for about as long as those of a shorter one.
"""


@dataclass(frozen=True, eq=False)
class SimulatedFit:
    """An estimate of a method that simulates its records."""

    model: BaseModel
    """With its shapes at the estimate."""
    parameters: Array
    """(b,)."""
    controller: Controller
    records: RecordSet
    """With one output: torque, or position where none was recorded."""
    window: Window
    delay: float = 0.0
    """s by which the reference is late."""
    estimated: tuple[str, ...] = ()
    """Gains and "delay" that were unknowns."""
    simulated: tuple[Motion, ...] = ()
    """The motions of the records, where they are known from the fit."""
    origin: tuple[int, ...] = ()
    """Of each record, the one that it is a block of; empty: all are whole."""

    def motions(self) -> tuple[Motion, ...] | None:
        """The records as simulated; None where one fails."""
        return None if self._runs is None else tuple(motion for motion, _ in self._runs)

    def errors(self) -> Array:
        """(n,) norm of each joint's error over its rows; infinite where a simulation fails."""
        motions = self.motions()
        if motions is None:
            return np.full(self.model.robot.n, np.inf)
        return compare(self.records, motions, self.window).errors

    def courses(self) -> list[Course] | None:
        """The records as simulated, with their references; None where one fails."""
        found = []
        for k, (motion, law) in enumerate(self._runs or ()):
            t = np.asarray(self.records.records[k].t)
            drive = self.records.inputs[k].delayed(self.delay)
            q_r, dq_r, ddq_r = drive.sample(t)
            if isinstance(drive, Reference) and drive.interpolation == "held":
                dq_r = np.gradient(q_r, t, axis=0)
                ddq_r = np.gradient(dq_r, t, axis=0)
            states, reference = motion.states, (q_r, dq_r, ddq_r)
            record = self.origin[k] if self.origin else k
            found.append(
                Course(self.model, self.parameters, t, states, motion.tau, record, reference, law)
            )
        return None if self._runs is None else found

    @cached_property
    def _runs(self) -> list[tuple[Motion, Law]] | None:
        """The simulated motion of each record, and the law that drove it."""
        found = []
        for k in range(len(self.records.records)):
            request = self.records.request(
                k, self.model, self.parameters, self.controller, self.delay
            )
            try:
                run = prepared(request)
            except InputError:  # too stiff a loop, at parameters that nobody gave
                return None
            motion = self.simulated[k] if self.simulated else run.fixed(None)
            if not motion.completed:
                return None
            signals = motion.with_signals(self.model, self.parameters, request.signals)
            found.append((signals, run.plant.law))
        return found

    def columns(
        self, suspects: Sequence[Suspect], courses: Sequence[Course]
    ) -> tuple[LinearSystem, Array] | None:
        """The equations rho = J step of what was estimated, and the columns (r, K) of the
        suspects; None where the simulation fails.
        """
        numbers = range(len(courses))
        found = on_threads(lambda k: self._record(k, courses[k], suspects), numbers)
        systems = [each for each in found if each is not None]
        if len(systems) < len(courses):
            return None
        both = stack(systems)
        count = sum(each.columns for each in suspects)
        first = both.W.shape[1] - count
        names, affine = both.names[:first], self.model.affine
        extra = first - len(self.model.parameter_names)
        steps = None if affine is None else affine.steps(extra)
        system = replace(both, W=both.W[:, :first], names=names, affine=steps)
        return system, both.W[:, first:]

    def _record(self, k: int, course: Course, suspects: Sequence[Suspect]) -> LinearSystem | None:
        """One record: the columns of what was estimated, then those of the suspects."""
        torques = SuspectTorques(course, [each for each in suspects if not each.directions])
        request = self.records.request(k, self.model, self.parameters, self.controller, self.delay)
        gains = {name for each in suspects for name in each.directions} | {*self.estimated}
        unknown = sorted(gains - {"delay"}), "delay" in self.estimated
        outputs, selection = self.records.outputs, self.records.selection
        decimator, samples = selection.decimator, self.window.samples[k]
        alone = len(self.records.records) == 1 and course.t.size > LONG
        run = decimated_sensitivities(
            request, *unknown, outputs, decimator, samples, torques.disturbances, alone
        )
        if not run.motion.completed:
            return None
        rho, _ = output_error(self.records, k, run.motion, self.window)
        used = used_rows(self.records, run.motion, samples)
        place, b, J = {name: i for i, name in enumerate(run.names)}, self.parameters.size, run.J
        if torques.commands and outputs == ("tau",):
            recorded = selection.reduce(samples, torques.recorded)
            for (c, j), column in zip(torques.commands, recorded.T, strict=True):
                J[:, j, b + c] += column  # the part that is recorded at once: the command itself
        end = b + torques.count
        shapes = range(end, end + len(self.model.layout.terms.free))
        known = [*range(b), *shapes, *(place[name] for name in self.estimated)]
        names, at, chosen = [run.names[i] for i in known], b, list[tuple[list[int], Array]]()
        for each in suspects:
            if each.directions:
                weights = np.array(list(each.directions.values()))
                chosen.append(([place[name] for name in each.directions], weights[:, None]))
            else:
                chosen.append((list(range(at, at + each.columns)), np.eye(each.columns)))
                at += each.columns
            names += [f"{each.name} {i}" for i in range(each.columns)]

        def columns(rows: Array) -> Array:
            parts = [rows[:, some] @ weights for some, weights in chosen]
            return np.concatenate([rows[:, known], *parts], axis=1)

        given = tuple(names), k, decimator.correlation, None
        return rows_of(J, rho, used, *given, columns)
