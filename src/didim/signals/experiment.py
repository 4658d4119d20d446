"""`Experiment`: what was recorded while a robot followed a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, shortened
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.validation import instants, per_joint, real, samples, set_fields, width_of

Array = NDArray[np.float64]


SHORTEST_PERIOD, LONGEST_PERIOD = 1e-8, 1e6
"""s, of a step between samples: beyond them the times are in another unit."""


@dataclass(frozen=True, eq=False, init=False)
class Experiment:
    """One record: joint torques and the reference that the controller followed; positions where
    they were measured. Torques may be missing where positions were.
    """

    t: Array
    """(N,) s, rising."""
    tau: Array | None
    """(N, n) joint torques, N.m or N; None: not measured."""
    q_ref: Array | Trajectory | None
    """The reference: an array (N, n) on t, a `Reference` with its own clock, or a trajectory."""
    q: Array | None = None
    """(N, n) measured positions, rad or m."""
    dq: Array | None = None
    """(N, n) measured velocities."""
    name: str = ""
    notes: tuple[str, ...] = ()
    """What was done to the record when it was read; shown with every result."""
    channels: Mapping[str, Array] = field(default_factory=dict)
    """(N,) further signals by name that effects need: a temperature, whether drives are enabled."""
    gains: Mapping[str, Array] = field(default_factory=dict)
    """Gains that the controller had during this record, by name, where records differ in them:
    {"kp": 400.0}.
    """

    def __init__(
        self,
        t: ArrayLike,
        tau: ArrayLike | None = None,
        q_ref: ArrayLike | Trajectory | None = None,
        q: ArrayLike | None = None,
        dq: ArrayLike | None = None,
        name: str = "",
        notes: Sequence[str] = (),
        channels: Mapping[str, ArrayLike] | None = None,
        gains: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        title = f"experiment {name!r}" if isinstance(name, str) and name else "the experiment"
        time = instants(t, f"t of {title}")
        if tau is not None:
            width = width_of(tau, "tau")
        elif q is not None:
            width = width_of(q, "q")
        else:
            raise InputError(f"{title[:1].upper()}{title[1:]} needs torques tau or positions q.")
        step = float(np.median(np.diff(time)))
        if not SHORTEST_PERIOD < step < LONGEST_PERIOD:
            raise InputError(
                f"t of {title} must be in seconds, found steps of {step:.3g} s; declare its unit."
            )
        signals = {
            key: None if value is None else samples(value, _of(key, name), width, time.size).copy()
            for key, value in (("tau", tau), ("q", q), ("dq", dq))
        }
        if not isinstance(name, str) or not all(isinstance(note, str) for note in _listed(notes)):
            raise InputError("name must be a text and notes a list of texts.")
        if isinstance(q_ref, Trajectory):
            if q_ref.n != width:
                other = "q" if tau is None else "tau"
                raise InputError(f"{_of('q_ref', name)} has {q_ref.n} joints, {other} has {width}.")
        elif q_ref is not None:
            q_ref = samples(q_ref, _of("q_ref", name), width, time.size).copy()
        logged = {
            key: samples(value, _of(key, name), 1, time.size)[:, 0].copy()
            for key, value in dict(channels or {}).items()
        }
        set_fields(
            self,
            t=time.copy(),
            **signals,
            q_ref=q_ref,
            name=name,
            notes=tuple(notes),
            channels=logged,
            gains={
                key: per_joint(value, _of(f"gain {key}", name), width)
                for key, value in dict(gains or {}).items()
            },
        )

    def __repr__(self) -> str:
        return (
            f"Experiment({self.name!r}, {self.t.size} samples of {self.n} joints, {self.t[0]:g} to "
            f"{self.t[-1]:g} s)"
        )

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(np.asarray(self.q if self.tau is None else self.tau).shape[1])

    def reference(self, interpolation: str = "cubic") -> Trajectory:
        """The reference as a trajectory; an array on t is interpolated by `interpolation`."""
        if self.q_ref is None:
            raise InputError(f"Experiment {self.name!r} has no reference; give q_ref.")
        return (
            self.q_ref
            if isinstance(self.q_ref, Trajectory)
            else Reference(self.t, self.q_ref, interpolation=interpolation)
        )

    def between(self, start: float, end: float) -> Experiment:
        """The part with start <= t <= end. A reference with its own clock is kept whole: the loop
        has a history.
        """
        start, end = real(start, "start"), real(end, "end")
        keep = (self.t >= start) & (self.t <= end)
        if keep.sum() < 2:
            raise InputError(
                f"Experiment {self.name!r}: no two samples lie between {start:g} and {end:g} s; it "
                f"has {self.t[0]:g} to {self.t[-1]:g} s."
            )
        cut: dict[str, Any] = {
            name: None if (value := getattr(self, name)) is None else value[keep]
            for name in ("tau", "q", "dq")
        }
        q_ref = (
            self.q_ref
            if self.q_ref is None or isinstance(self.q_ref, Trajectory)
            else self.q_ref[keep]
        )
        channels = {key: value[keep] for key, value in self.channels.items()}
        return replace(self, t=self.t[keep], q_ref=q_ref, channels=channels, **cut)

    def aligned(self, offset: float) -> Experiment:
        """The experiment with its reference shifted by `offset` s (later if positive), cut to the
        times that both cover.
        """
        offset = real(offset, "offset")
        if isinstance(self.q_ref, Trajectory) or self.q_ref is None:
            trajectory = self.reference().shifted(-offset)
        else:
            trajectory = Reference(self.t + offset, self.q_ref, interpolation="linear")
        start, end = trajectory.span
        cut = self.between(max(start, float(self.t[0])), min(end, float(self.t[-1])))
        return replace(
            cut,
            q_ref=trajectory,
            notes=(*self.notes, f"The reference was shifted by {1e3 * offset:.4g} ms."),
        )

    def torque_advanced(self, delay: float) -> Experiment:
        """The experiment with its torque shifted earlier by `delay` s, by which it was logged later
        than the positions; cut to the times that both cover.
        """
        tau = measured_torque(self, "torque_delay")
        at = self.t + real(delay, f"torque_delay of experiment {self.name!r}")
        tau = np.column_stack([np.interp(at, self.t, column) for column in tau.T])
        inside = self.t[(at >= self.t[0]) & (at <= self.t[-1])]
        if inside.size < 2:
            raise InputError(
                f"Experiment {self.name!r}: torque_delay, {delay:g} s, is longer than the record."
            )
        note = f"The torque was shifted earlier by {1e3 * delay:.4g} ms (torque_delay)."
        shifted = replace(self, tau=tau, notes=(*self.notes, note))
        return shifted.between(float(inside[0]), float(inside[-1]))


def measured_torque(experiment: Experiment, what: str = "this method") -> Array:
    """(N, n) N.m or N; a record without torques, which `what` needs, is refused."""
    if experiment.tau is None:
        raise InputError(
            f"Experiment {experiment.name!r} has no torque, which {what} needs; give tau (of a "
            "log of currents or voltages: control and drive_gain), or use OutputError with "
            'output="position" (method = "output_error" in a study).'
        )
    return experiment.tau


def listed_records(value: Experiment | Sequence[Experiment], name: str) -> tuple[Experiment, ...]:
    """One record or several as a tuple; `name` is the argument's."""
    records = (value,) if isinstance(value, Experiment) else value
    is_list = isinstance(records, list | tuple) and len(records) > 0
    if not is_list or not all(isinstance(each, Experiment) for each in records):
        raise InputError(
            f"{name} must be a didim.Experiment or a list of them, found {shortened(value)}."
        )
    return tuple(records)


def _of(key: str, name: object) -> str:
    """A signal of a record, as messages call it."""
    return f"{key} of experiment {name!r}" if isinstance(name, str) and name else key


def _listed(notes: object) -> list[object]:
    """The notes one by one; [None] where they are not a list."""
    return list(notes) if isinstance(notes, list | tuple) else [None]
