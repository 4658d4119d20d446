"""The records of a DIDIM run and their simulations: the same loop, the same reference, the same rows (35), (45)-(48)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.linear import linearise
from didim.door import per_joint
from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.identification.system import LinearSystem, observe, stack
from didim.results.history import Distance, distance
from didim.signals.experiment import Experiment
from didim.signals.filters import estimated_motion
from didim.signals.reference import Cached, Course, Reference
from didim.signals.resample import period_of
from didim.signals.rows import Selection
from didim.signals.states import States
from didim.simulation.motion import Motion
from didim.simulation.setup import course_of
from didim.simulation.simulate import simulate

Array = NDArray[np.float64]

LONGEST_SHARE = 0.3
"""Of a record that a transient found by itself may take."""

MOST_SUBSTEPS = 60
"""Steps per sample beyond which an iterate counts as failed: its inertia is next to nothing."""

_PROBES = 7
"""Configurations along the reference at which the loop is linearised."""

_MEASURED_CUTOFF = 0.1
"""Of the sampling rate: cut of the filter of measured positions that distances are taken to."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """All records simulated with the same parameters."""

    motions: tuple[Motion, ...]
    errors: Array
    """(n,) ||Y^j - Y_s^j|| over the rows of each joint."""
    sizes: Array
    """(n,) ||Y^j||."""

    @property
    def residual(self) -> float:
        """||Y - Y_s|| / ||Y||."""
        return float(np.linalg.norm(self.errors) / np.linalg.norm(self.sizes))

    @property
    def by_joint(self) -> Array:
        """(n,) ||Y^j - Y_s^j|| / ||Y^j||."""
        return self.errors / np.where(self.sizes > 0, self.sizes, 1.0)


class ClosedLoop:
    """Simulates the records and builds their linear system; the cut at the start may grow, never shrink."""

    def __init__(
        self,
        records: Sequence[Experiment],
        selection: Selection,
        transient: float | None,
        start: tuple[ArrayLike, ArrayLike] | str | None,
        interpolation: str,
    ) -> None:
        self.records, self.selection, self.start, self.interpolation = list(records), selection, start, interpolation
        self.notes: list[str] = []
        self.courses = [_course(record, interpolation) for record in records]
        self.grows = transient is None
        self.transient = 0.0
        self.windows: list[tuple[int, int]] = []
        self.cut(0.0 if transient is None else transient)

    @property
    def references(self) -> list[Array]:
        """(N, n) of each record: the reference at its times."""
        return [course.sample(np.asarray(record.t))[0] for course, record in zip(self.courses, self.records, strict=True)]

    @property
    def probes(self) -> Array:
        """(K, n) configurations of the references."""
        q = [
            course.sample(np.linspace(*_ends(record), 97))[0] for course, record in zip(self.courses, self.records, strict=True)
        ]
        return np.vstack(q)

    def cut(self, transient: float) -> None:
        """Leave out at least `transient` s at the start of every record."""
        self.transient = max(self.transient, transient)
        self.windows = [self.selection.window(np.asarray(record.t), self.transient) for record in self.records]

    def cut_for(self, model: TorqueModel, parameters: Array, loop: Controller) -> None:
        """Leave out what this loop needs to forget its initial state, 10 over its slowest pole, at least 5 / omega_n (56).

        A record keeps seven tenths of its length; a law of the user's own is given a second.
        """
        if not self.grows:
            return
        longest = LONGEST_SHARE * min(end - start for start, end in map(_ends, self.records))
        wanted = transient_of(model, parameters, loop, self.probes)
        if wanted > longest and not self.notes:
            self.notes.append(
                f"The loop needs {wanted:.3g} s to forget its initial state, but only {longest:.3g} s of the record were cut: "
                "a longer record would be safer."
            )
        self.cut(min(wanted, longest))

    def simulate(self, model: TorqueModel, parameters: Array, loop: Controller) -> Simulated | str:
        """The records simulated in the loop, or what went wrong."""

        def run(k: int) -> Motion:
            return simulate(
                model,
                parameters,
                loop,
                t=self.records[k].t,
                q_ref=self.courses[k],
                initial=self.start,
                check=False,
                most_substeps=MOST_SUBSTEPS,
            )

        try:
            if len(self.records) == 1:
                motions = [run(0)]
            else:
                with ThreadPoolExecutor() as pool:
                    motions = list(pool.map(run, range(len(self.records))))
        except InputError as problem:  # too stiff a loop, at parameters that nobody gave
            return str(problem)
        for motion in motions:
            if not motion.completed:
                return motion.message
        return self.compared(tuple(motions))

    def compared(self, motions: tuple[Motion, ...]) -> Simulated:
        """Errors of simulated torques on the rows."""
        n = self.records[0].n
        errors, sizes = np.zeros(n), np.zeros(n)
        for record, motion, window in zip(self.records, motions, self.windows, strict=True):
            reduced = self.selection.columns(window, np.hstack([np.asarray(record.tau), motion.tau]))
            used = self.selection.moving(motion.dq, window)
            errors += np.sum(np.where(used, reduced[:, :n] - reduced[:, n:], 0.0) ** 2, axis=0)
            sizes += np.sum(np.where(used, reduced[:, :n], 0.0) ** 2, axis=0)
        return Simulated(motions, np.sqrt(errors), np.sqrt(sizes))

    def system(self, model: BaseModel, simulated: Simulated) -> LinearSystem:
        """Y = W_delta chi + rho on the simulated states (48)."""
        systems = []
        for k, (record, motion) in enumerate(zip(self.records, simulated.motions, strict=True)):
            slip = motion.slip if motion.slip.shape[1] == len(model.contacts) else None
            states = States(motion.q, motion.dq, motion.ddq, slip)
            systems.append(observe(model, states, np.asarray(record.tau), self.selection, self.windows[k], k))
        return stack(systems)

    def to_reference(self, simulated: Simulated) -> Distance:
        """Distance of the simulated motion to the reference (Fig. 11), over the windows used."""
        return self._distance(
            simulated, [course.sample(np.asarray(r.t)) for course, r in zip(self.courses, self.records, strict=True)]
        )

    def to_measured(self, simulated: Simulated) -> Distance | None:
        """Distance to the measured motion, filtered and differentiated; None where positions were not measured."""
        if any(record.q is None for record in self.records):
            return None
        return self._distance(simulated, self._measured)

    @cached_property
    def _measured(self) -> list[tuple[Array, Array, Array]]:
        """q, dq, ddq of each record, from its measured positions."""
        rates = [1.0 / period_of(np.asarray(record.t)) for record in self.records]
        return [
            estimated_motion(np.asarray(record.q), rate, _MEASURED_CUTOFF * rate)
            for record, rate in zip(self.records, rates, strict=True)
        ]

    def _distance(self, simulated: Simulated, others: Sequence[tuple[Array, Array, Array]]) -> Distance:
        ours: list[list[Array]] = [[], [], []]
        theirs: list[list[Array]] = [[], [], []]
        for motion, other, (start, stop) in zip(simulated.motions, others, self.windows, strict=True):
            for k, (one, two) in enumerate(zip((motion.q, motion.dq, motion.ddq), other, strict=True)):
                ours[k].append(one[start:stop])
                theirs[k].append(two[start:stop])
        first, second = ((np.vstack(x[0]), np.vstack(x[1]), np.vstack(x[2])) for x in (ours, theirs))
        return distance(first, second)


def transient_of(model: TorqueModel, parameters: Array, loop: Controller, probes: Array) -> float:
    """Seconds in which the loop forgets its initial state: 10 over its slowest pole with friction, at least 5 / omega_n."""
    least = 0.0
    if loop.by_poles:
        least = 5.0 / float(per_joint(np.asarray(loop.natural_frequency), "natural_frequency", model.robot.n).min())
    period = 1.0 if loop.rate is None else 1.0 / loop.rate
    rates = []
    for q in probes[np.linspace(0, len(probes) - 1, _PROBES).astype(int)]:
        linear = linearise(model, parameters, loop, q)
        if linear is not None and linear.stable:
            rates.append(linear.slowest / period)
    return max(least, 10.0 / min(rates)) if rates else max(least, 1.0)


def _course(record: Experiment, interpolation: str) -> Course:
    """The reference; a trajectory remembers its pieces from one simulation to the next."""
    course = course_of(record.reference(interpolation), np.asarray(record.t), record.n, interpolation, "q_ref")
    return course if isinstance(course, Reference) else Cached(course)


def _ends(record: Experiment) -> tuple[float, float]:
    time = np.asarray(record.t)
    return float(time[0]), float(time[-1])
