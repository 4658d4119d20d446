"""The columns of suspects beside those of what was estimated, at the rows of the fit.

In the loop, a torque s that the robot needs more is a disturbance, and the loop's answer is its
column. A command c is a disturbance -c that is recorded as well: its column is the answer plus c.
Along a measured motion, the column is s itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from didim.structure.of_loop import earlier
from didim.structure.suspect import Course, Suspect, Torques

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedFit:
    """An estimate of a method that simulates its records."""

    model: BaseModel
    """With its shapes at the estimate."""
    parameters: Array
    """(b,)."""
    controller: Controller
    records: RecordSet
    """With the torque as output."""
    window: Window
    delay: float = 0.0
    """s by which the reference is late."""
    estimated: tuple[str, ...] = ()
    """Gains and "delay" that were unknowns."""
    simulated: tuple[Motion, ...] = ()
    """The motions of the records, where they are known from the fit."""

    def motions(self) -> tuple[Motion, ...] | None:
        """The records as simulated; None where one fails."""
        return None if self._runs is None else tuple(motion for motion, _ in self._runs)

    def errors(self) -> Array:
        """(n,) norm of the torque error of each joint over its rows; infinite where a simulation
        fails.
        """
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
            found.append(
                Course(self.model, self.parameters, t, states, motion.tau, k, reference, law)
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
        systems = []
        for k, course in enumerate(courses):
            found = self._record(k, course, suspects)
            if found is None:
                return None
            systems.append(found)
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
        own = [each for each in suspects if not each.directions]
        torques: list[Torques] = []
        commands: list[Torques | None] = []
        for each in own:
            if each.torque is not None:
                torques += (found := each.torque(course))
                commands += [None] * len(found)
            elif each.command is not None:
                found = each.command(course)
                commands += found
                torques += [self._applied(course, c) for c in found]
        request = self.records.request(k, self.model, self.parameters, self.controller, self.delay)
        shifts = "delay" in self.estimated
        decimator, samples = self.records.selection.decimator, self.window.samples[k]
        run = decimated_sensitivities(
            request, True, shifts, ("tau",), decimator, samples, torques, alone=True
        )
        if not run.motion.completed:
            return None
        rho, _ = output_error(self.records, k, run.motion, self.window)
        used = used_rows(self.records, run.motion, samples)
        place, b = {name: i for i, name in enumerate(run.names)}, self.parameters.size
        J, answers = run.J, run.J[:, :, b : b + len(torques)]
        recorded = self._recorded(commands, samples)
        shapes = list(range(b + len(torques), b + len(torques) + len(self.model.layout.terms.free)))
        known = [*range(b), *shapes, *(place[name] for name in self.estimated)]
        parts, names, at = [J[:, :, known]], [run.names[i] for i in known], 0
        for each in suspects:
            if each.directions:
                weights = np.array(list(each.directions.values()))
                parts.append(J[:, :, [place[name] for name in each.directions]] @ weights[:, None])
            else:
                chosen = slice(at, at + each.columns)
                parts.append(answers[:, :, chosen] + recorded[:, :, chosen])
                at += each.columns
            names += [f"{each.name} {i}" for i in range(each.columns)]
        columns = np.concatenate(parts, axis=2)
        return rows_of(columns, rho, used, tuple(names), k, decimator.correlation, None)

    def _applied(self, course: Course, command: Mapping[int, Array]) -> Torques:
        """A command as a disturbance: that of a sampled law is held until the next sample."""
        assert course.law is not None
        late = 0.5 * course.law.period
        return {j: -earlier(course.t, c[:, None], late)[:, 0] for j, c in command.items()}

    def _recorded(self, commands: Sequence[Torques | None], samples: tuple[int, int]) -> Array:
        """(K, n, C) the part of each column that is recorded at once: the command itself."""
        n, selection, K = self.model.robot.n, self.records.selection, len(commands)
        pairs = [(c, j, s) for c, each in enumerate(commands) for j, s in (each or {}).items()]
        rows = selection.decimator.kept(samples[1] - samples[0]).size
        found = np.zeros((rows, n, K))
        if pairs:
            reduced = selection.columns(samples, np.column_stack([s for *_, s in pairs]))
            for (c, j, _), column in zip(pairs, reduced.T, strict=True):
                found[:, j, c] = column
        return found
