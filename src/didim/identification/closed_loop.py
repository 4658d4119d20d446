"""The records of a DIDIM run and their simulations: the same loop, the same reference, the same
rows (35), (45)-(48).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.identification.courses import measured_start, reference_course, torque_course
from didim.identification.system import LinearSystem, observe, rows_of, stack
from didim.identification.transient import transient_of
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.signals.states import States
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest, prepared
from didim.simulation.sensitivities import differentiable, run_with
from didim.validation import LARGEST_NUMBER

Array = NDArray[np.float64]
T = TypeVar("T")

LONGEST_SHARE = 0.3
"""Of a record that a transient found by itself may take."""

SHRINK = 0.8
"""A cut may become shorter if it is by this factor."""

MAX_SUBSTEPS = 60
"""Steps per sample beyond which an iterate counts as failed: its inertia is next to nothing."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """All records simulated with the same parameters."""

    motions: tuple[Motion, ...]
    errors: Array
    """(g,) ||Y^j - Y_s^j|| over the rows of each joint, output after output."""
    sizes: Array
    """(g,) ||Y^j||."""
    counts: Array
    """(g,) rows."""

    @property
    def residual(self) -> float:
        """||Y - Y_s|| / ||Y||, of the first output where there are two."""
        n = self.motions[0].q.shape[1]
        size = float(np.linalg.norm(self.sizes[:n]))
        return float(np.linalg.norm(self.errors[:n])) / size if size > 0 else np.inf

    @property
    def by_joint(self) -> Array:
        """(g,) ||Y^j - Y_s^j|| / ||Y^j||."""
        return self.errors / np.where(self.sizes > 0, self.sizes, 1.0)


class ClosedLoop:
    """Simulates the records and builds their linear system; the cut at the start may grow, never
    shrink.

    `outputs` are the signals that are compared, "tau" and "q"; a loop that is not `driven` is open:
    the torques are given.
    """

    def __init__(
        self,
        records: Sequence[Experiment],
        selection: RowSelection,
        transient: float | None,
        start: tuple[ArrayLike, ArrayLike] | str | None,
        interpolation: str,
        outputs: tuple[str, ...] = ("tau",),
        driven: bool = True,
    ) -> None:
        self.records, self.selection, self.start, self.interpolation = (
            list(records),
            selection,
            start,
            interpolation,
        )
        self.notes: list[str] = []
        self.outputs = outputs
        self.courses = [
            reference_course(record, interpolation) if driven else torque_course(record)
            for record in records
        ]
        self.starts = [] if driven else [measured_start(record) for record in records]
        self.grows = transient is None
        self.transient = 0.0
        self.windows: list[tuple[int, int]] = []
        self.cut(0.0 if transient is None else transient)

    @property
    def references(self) -> list[Array]:
        """(N, n) of each record: the reference at its times; in open loop the measured
        positions.
        """
        if self.starts:
            return [np.asarray(record.q) for record in self.records]
        return [
            course.sample(np.asarray(record.t))[0]
            for course, record in zip(self.courses, self.records, strict=True)
        ]

    @property
    def probes(self) -> Array:
        """(K, n) configurations of the references."""
        q = [
            course.sample(np.linspace(*_ends(record), 97))[0]
            for course, record in zip(self.courses, self.records, strict=True)
        ]
        return np.vstack(q)

    def cut(self, transient: float) -> None:
        """Leave out `transient` s at the start of every record."""
        self.transient = transient
        self.windows = [
            self.selection.window(np.asarray(record.t), self.transient) for record in self.records
        ]

    def cut_for(
        self, model: TorqueModel, parameters: Array, loop: Controller, shrink: bool = False
    ) -> None:
        """Leave out what this loop needs to forget its initial state, 10 over its slowest pole, at
        least 5 / omega_n (56).

        A record keeps seven tenths of its length; a law of the user's own is given a second. The
        cut only grows, or, where it may `shrink`, follows the loop in steps that are worth it.
        """
        if not self.grows:
            return
        longest = LONGEST_SHARE * min(end - start for start, end in map(_ends, self.records))
        wanted = transient_of(model, parameters, loop, self.probes)
        if wanted > longest and not self.notes:
            self.notes.append(
                f"The loop needs {wanted:.3g} s to forget its initial state, but only "
                f"{longest:.3g} s of the record were cut: "
                "a longer record would be safer."
            )
        wanted = min(wanted, longest)
        if wanted > self.transient or (shrink and wanted < SHRINK * self.transient):
            self.cut(wanted)

    def simulate(
        self, model: TorqueModel, parameters: Array, loop: Controller | None, delay: float = 0.0
    ) -> Simulated | str:
        """The records simulated in the loop, or what went wrong; with the references later by
        `delay`, s.
        """

        def run(k: int) -> Motion | str:
            motion = prepared(self._request(model, parameters, loop, k, delay)).fixed(None)
            return motion if motion.completed else motion.message

        found = self._each(run)
        return found if isinstance(found, str) else self.compared(tuple(found))

    def _request(
        self, model: TorqueModel, parameters: Array, loop: Controller | None, k: int, delay: float
    ) -> SimulationRequest:
        """Record k as `didim.simulate` takes it."""
        record, course = self.records[k], self.courses[k]
        if delay != 0.0:
            course = course.delayed(delay)
        reference, torque = (course, None) if loop is not None else (None, course)
        start = self.start if loop is not None else self.starts[k]
        return SimulationRequest(
            model,
            parameters,
            loop,
            record.t,
            reference,
            torque,
            "exact",
            0.05,
            start,
            None,
            MAX_SUBSTEPS,
        )

    def _each(self, run: Callable[[int], T | str]) -> list[T] | str:
        """Run all records, on as many threads as there are processors; the first thing that went
        wrong, if any did.
        """
        count = len(self.records)
        try:
            if count == 1:
                found = [run(0)]
            else:
                with ThreadPoolExecutor() as pool:
                    found = list(pool.map(run, range(count)))
        except InputError as problem:  # too stiff a loop, at parameters that nobody gave
            return str(problem)
        good = [each for each in found if not isinstance(each, str)]
        return good if len(good) == count else next(each for each in found if isinstance(each, str))

    def compared(self, motions: tuple[Motion, ...]) -> Simulated:
        """Errors of the simulated outputs on the rows.

        Implements (28), (35).
        """
        groups = len(self.outputs) * self.records[0].n
        errors, sizes, counts = np.zeros(groups), np.zeros(groups), np.zeros(groups)
        for k, motion in enumerate(motions):
            rho, y = self._reduced(k, motion)
            used = np.tile(self.selection.moving(motion.dq, self.windows[k]), len(self.outputs))
            errors += np.sum(np.where(used, rho, 0.0) ** 2, axis=0)
            sizes += np.sum(np.where(used, y, 0.0) ** 2, axis=0)
            counts += used.sum(axis=0)
        return Simulated(motions, np.sqrt(errors), np.sqrt(sizes), counts)

    def _reduced(self, k: int, motion: Motion) -> tuple[Array, Array]:
        """Y - Y_s and Y of record k, decimated: (K, groups)."""
        signals = [
            np.asarray(getattr(of, name))
            for of in (self.records[k], motion)
            for name in self.outputs
        ]
        reduced = self.selection.reduce(
            self.windows[k], lambda start, stop: np.hstack([each[start:stop] for each in signals])
        )
        y, y_s = np.hsplit(reduced, 2)
        return y - y_s, y

    def system(self, model: BaseModel, simulated: Simulated) -> LinearSystem:
        """Y = W_delta chi + rho on the simulated states (48).

        Implements (37), (41), (45)-(48).
        """
        systems = []
        for k, (record, motion) in enumerate(zip(self.records, simulated.motions, strict=True)):
            slip = motion.slip if motion.slip.shape[1] == len(model.contacts) else None
            states = States(motion.q, motion.dq, motion.ddq, slip)
            systems.append(
                observe(model, states, np.asarray(record.tau), self.selection, self.windows[k], k)
            )
        return stack(systems)

    def differentiate(
        self,
        model: TorqueModel,
        parameters: Array,
        loop: Controller | None,
        gains: bool = False,
        delay: float | None = None,
    ) -> tuple[Simulated, LinearSystem] | str:
        """The records simulated, and rho = J step + rest: J (r, m) exact, in parameters, gains and
        delay, rho = Y - Y_s.

        `delay`, s, shifts the references and is a direction of its own; None: neither.

        Implements (29), (31), (32).
        """

        def run(k: int) -> tuple[Motion, LinearSystem] | str:
            asked = self._request(model, parameters, loop, k, delay or 0.0)
            run, directions = differentiable(asked, gains, delay is not None)
            streams = {name: self.selection.decimator.stream() for name in self.outputs}
            start, stop = self.windows[k]

            def take(first: int, of_tau: Array, of_q: Array) -> None:
                part = slice(max(start - first, 0), max(stop - first, 0))
                for name, block in (("tau", of_tau), ("q", of_q)):
                    if name in streams and block[part].size:
                        streams[name].push(block[part].reshape(-1, block.shape[1] * block.shape[2]))

            motion = run_with(run, directions, asked, take)
            if not motion.completed:
                return motion.message
            n, names = model.robot.n, directions.names
            shape = (-1, n, directions.count)
            parts = [
                directions.folded(streams.pop(name).result().reshape(shape))
                for name in self.outputs
            ]
            J = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
            if not np.all(np.abs(J) < LARGEST_NUMBER):
                return "The sensitivities run away; is the loop stable?"
            rho = self._reduced(k, motion)[0]
            used = np.tile(self.selection.moving(motion.dq, self.windows[k]), len(self.outputs))
            return motion, rows_of(J, rho, used, names, k, self.selection.decimator.correlation)

        found = self._each(run)
        if isinstance(found, str):
            return found
        system = stack([system for _, system in found])
        if system.y.size <= len(system.names):
            return (
                f"only {system.y.size} equations are left for {len(system.names)} unknowns "
                "(rest_velocity? decimation?)"
            )
        return self.compared(tuple(motion for motion, _ in found)), system


def _ends(record: Experiment) -> tuple[float, float]:
    time = np.asarray(record.t)
    return float(time[0]), float(time[-1])
