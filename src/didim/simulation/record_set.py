"""`RecordSet`: records on regular clocks, what drives their simulations, where these start, and
which of their samples become rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.transient import transient_of
from didim.dynamics.torque import TorqueModel
from didim.errors import naming
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.filters import estimated_motion
from didim.signals.reference import Reference
from didim.signals.resample import period_of
from didim.signals.rows import RowSelection
from didim.signals.trajectory import CachedTrajectory, Trajectory
from didim.simulation.distance import Distance, MotionSignals, distance
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest
from didim.simulation.setup import trajectory_of
from didim.simulation.starts import MEASURED, Start, first_state, measured_start
from didim.validation import per_joint

Array = NDArray[np.float64]

NEVER = 1e9
"""A velocity, rad/s or m/s, that no joint has."""

MAX_SUBSTEPS = 60
"""Steps per sample beyond which an inertia is next to nothing."""

SEARCH_SUBSTEPS = 8
"""The same while a loop is only looked for: stiffer estimates are turned back from."""

SEARCH_SECONDS = 10.0
"""Of each record that a search for a loop simulates."""

MAX_TRANSIENT_FRACTION = 0.3
"""Of a record that a transient found by itself may take."""

SHRINK_RATIO = 0.8
"""A transient may become shorter if it does by this factor."""

MEASURED_CUTOFF = 0.1
"""Of the sampling rate: cutoff of the filter of measured positions that distances are taken to."""

MAX_DISTANCE_SAMPLES = 100_000
"""Samples that a distance is taken over: of longer records every second, third, ... sample."""


@dataclass(frozen=True)
class Window:
    """Which samples of each record are used. It belongs to an iterate: loops of other gains need
    other times to forget their initial state.
    """

    transient: float
    """s left out at the start of every record."""
    samples: tuple[tuple[int, int], ...]
    """First and one past the last sample used, of each record."""
    needed: float = 0.0
    """s that the loop needs, where that was more than the records can spare; else 0."""


@dataclass(frozen=True, eq=False)
class RecordSet:
    """Records that are simulated in one loop, and compared on the same rows."""

    records: tuple[Experiment, ...]
    selection: RowSelection
    transient: float | None
    """s cut at the start; None: what the simulated loop needs."""
    start: Start
    interpolation: str
    """Of references that are arrays."""
    outputs: tuple[str, ...] = ("tau",)
    """Signals that are compared, "tau" and "q"."""
    is_closed: bool = True
    """Whether a controller drives the simulations; else the recorded torque does."""
    notes: tuple[str, ...] = ()
    most_substeps: int = MAX_SUBSTEPS
    """Steps per sample beyond which a simulation counts as failed."""
    robust: bool = False
    """Whether outlying rows count less."""
    driven: NDArray[np.bool_] | None = None
    """(n,) whether each joint has a motor; None: all have. Torques of the others are zero, which
    says nothing in a simulated loop.
    """
    commanded: Array | None = None
    """(n,) standard deviation of the torque that the assumed loop commands along the measured
    positions, where no torque was measured.
    """

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.records[0].n

    @cached_property
    def inputs(self) -> tuple[Trajectory, ...]:
        """What drives each simulation: the reference; in open loop the recorded torque."""
        if not self.is_closed:
            torques = [(r.t, measured_torque(r, "open loop")) for r in self.records]
            return tuple(Reference(t, tau, interpolation="cubic") for t, tau in torques)
        return tuple(_reference(record, self.interpolation) for record in self.records)

    @cached_property
    def starts(self) -> tuple[Start, ...]:
        """Initial state of each simulation; in open loop that of the measured positions."""
        if not self.is_closed:
            return tuple(first_state(record) for record in self.records)
        measured = isinstance(self.start, str) and self.start == MEASURED
        return tuple(measured_start(r) if measured else self.start for r in self.records)

    @property
    def torque_selection(self) -> RowSelection:
        """How samples become rows of torques: those of passive joints are left out."""
        if self.driven is None or self.driven.all():
            return self.selection
        given = self.selection.rest_velocity
        rest = per_joint(0.0 if given is None else given, "rest_velocity", self.n)
        return replace(self.selection, rest_velocity=np.where(self.driven, rest, NEVER))

    @cached_property
    def references(self) -> list[Array]:
        """(N, n) of each record: the reference at its times; in open loop the measured motion."""
        if not self.is_closed:
            return [np.asarray(record.q) for record in self.records]
        if self._every == 1:
            found = [q for q, *_ in self._thinned_references]
        else:
            pairs = zip(self.inputs, self.records, strict=True)
            found = [each.positions(np.asarray(record.t)) for each, record in pairs]
        if self.driven is None or self.driven.all():
            return found
        moved = [q if r.q is None else r.q for q, r in zip(found, self.records, strict=True)]
        return [np.where(self.driven, q, own) for q, own in zip(found, moved, strict=True)]

    @cached_property
    def poses(self) -> Array:
        """(K, n) configurations of the references."""
        pairs = zip(self.inputs, self.records, strict=True)
        return np.vstack(
            [each.positions(np.linspace(*_ends(record), 97)) for each, record in pairs]
        )

    @cached_property
    def sizes(self) -> tuple[Array, Array]:
        """Standard deviation of the torque (n,) and rms velocity of the references (n,)."""
        torque = self.commanded
        if torque is None:
            torque = np.concatenate([measured_torque(r) for r in self.records]).std(axis=0)
        pairs = zip(self.references, self.records, strict=True)
        motion = [np.gradient(q, np.asarray(r.t), axis=0) for q, r in pairs]
        velocity = np.sqrt(np.mean(np.concatenate(motion) ** 2, axis=0))
        return np.maximum(torque, 1e-6 * torque.max()), np.where(velocity > 0, velocity, 1.0)

    @cached_property
    def not_stiff(self) -> RecordSet:
        """The same records, whose simulations fail where they would take long."""
        return replace(self, most_substeps=SEARCH_SUBSTEPS)

    @cached_property
    def beginning(self) -> RecordSet:
        """The first seconds of each record, enough to look for a loop."""
        parts = tuple(r.between(r.t[0], r.t[0] + SEARCH_SECONDS) for r in self.records)
        return replace(self, records=parts)

    @property
    def tracking_error(self) -> Array:
        """(n,) ||q - q_r|| / ||q|| of the measured positions; 0 where there are none."""
        measured = [np.asarray(r.q) for r in self.records if r.q is not None]
        if len(measured) < len(self.records):
            return np.zeros(self.n)
        q, reference = np.vstack(measured), np.vstack(self.references)
        size = np.linalg.norm(q, axis=0)
        return np.asarray(np.linalg.norm(q - reference, axis=0) / np.where(size > 0, size, 1.0))

    def refuse_unusable(self) -> None:
        """Refuse records without a reference, or too short for what is cut and decimated."""
        for record in self.records:
            if self.is_closed:
                record.reference()
        self.window(self.transient or 0.0)

    def window(self, transient: float, needed: float = 0.0) -> Window:
        """The samples that remain without `transient` s at the start of every record."""
        spans = []
        for record in self.records:
            with naming(f"Experiment {record.name!r}"):
                spans.append(self.selection.window(np.asarray(record.t), transient))
        return Window(transient, tuple(spans), needed)

    @cached_property
    def first_window(self) -> Window:
        """Before any loop was simulated."""
        return self.window(self.transient or 0.0)

    def window_for(
        self,
        model: TorqueModel,
        parameters: Array,
        loop: Controller | None,
        window: Window,
        shrink: bool = False,
    ) -> Window:
        """The window without what this loop needs to forget its initial state: 10 over its slowest
        pole, at least 5 / omega_n (56).

        A record keeps seven tenths of its length. The cut grows from that of `window`, or, where it
        may `shrink`, follows the loop in steps that are worth it.
        """
        if self.transient is not None or loop is None:
            return window
        longest = MAX_TRANSIENT_FRACTION * min(
            end - start for start, end in map(_ends, self.records)
        )
        needed = transient_of(model, parameters, loop, self.poses)
        unmet = window.needed or (needed if needed > longest else 0.0)
        cut = min(needed, longest)
        if cut > window.transient or (shrink and cut < SHRINK_RATIO * window.transient):
            return self.window(cut, unmet)
        return window if unmet == window.needed else self.window(window.transient, unmet)

    def window_notes(self, window: Window) -> tuple[str, ...]:
        """A note where the records are too short for their loop."""
        if not window.needed:
            return ()
        return (
            f"The loop needs {window.needed:.3g} s to forget its initial state, but only "
            f"{window.transient:.3g} s of the record were cut: a longer record would be safer.",
        )

    def request(
        self,
        k: int,
        model: TorqueModel,
        parameters: Array,
        loop: Controller | None,
        delay: float = 0.0,
        zero: Array | None = None,
    ) -> SimulationRequest:
        """Record k as `didim.simulate` takes it, in the loop with the gains that it had: its
        reference late by `delay` s, positions and reference plus `zero` (n,).
        """
        record, drive, start = self.records[k], self.inputs[k], self.starts[k]
        loop = None if loop is None else loop.during(record.gains)
        if delay != 0.0:
            drive = drive.delayed(delay)
        if zero is not None and np.any(zero):
            drive = drive.raised(zero)
            if start is not None and not isinstance(start, str):
                start = (np.asarray(start[0]) + zero, start[1])
        reference, torque = (drive, None) if loop is not None else (None, drive)
        friction, width = "exact", 0.05
        return SimulationRequest(
            model, parameters, loop, record.t, reference, torque, friction, width, start,
            None, self.most_substeps, record.channels,
        )  # fmt: skip

    def distance_to_reference(self, motions: Sequence[Motion], window: Window) -> Distance:
        """Of simulated motions to the references, over the window (Fig. 11)."""
        return distance(motions, self._thinned_references, window.samples, self._every)

    def distance_to_measured(self, motions: Sequence[Motion], window: Window) -> Distance | None:
        """To the measured motion, filtered and differentiated; None where it was not measured."""
        if any(record.q is None for record in self.records):
            return None
        return distance(motions, self._thinned_measured, window.samples, self._every)

    @cached_property
    def _every(self) -> int:
        return max(1, sum(np.size(r.t) for r in self.records) // MAX_DISTANCE_SAMPLES)

    @cached_property
    def _thinned_references(self) -> list[MotionSignals]:
        pairs = zip(self.inputs, self.records, strict=True)
        return [each.sample(np.asarray(record.t)[:: self._every]) for each, record in pairs]

    @cached_property
    def _thinned_measured(self) -> list[MotionSignals]:
        found = []
        for record in self.records:
            rate = 1.0 / period_of(np.asarray(record.t))
            q, dq, ddq = estimated_motion(np.asarray(record.q), rate, MEASURED_CUTOFF * rate)
            found.append(tuple(signal[:: self._every].copy() for signal in (q, dq, ddq)))
        return found


def _reference(record: Experiment, interpolation: str) -> Trajectory:
    """The reference; a trajectory remembers its coefficients from one simulation to the next."""
    given = record.reference(interpolation)
    found = trajectory_of(given, np.asarray(record.t), record.n, interpolation, "q_ref")
    return found if isinstance(found, Reference) else CachedTrajectory(found)


def _ends(record: Experiment) -> tuple[float, float]:
    time = np.asarray(record.t)
    return float(time[0]), float(time[-1])
