"""`Reference`: the motion that the controller follows, on a clock of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from didim.errors import InputError, nearest
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE, PiecewiseCubic
from didim.validation import instants, samples, set_fields, width_of

Array = NDArray[np.float64]

INTERPOLATIONS = ("held", "linear", "cubic")

Joints = slice | NDArray[np.intp]
ALL_JOINTS = slice(None)


class Trajectory(ABC):
    """Anything that gives positions, velocities and accelerations (N, n) at given times: a
    reference or a trajectory.
    """

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of joints."""

    @property
    @abstractmethod
    def span(self) -> tuple[float, float]:
        """First and last time, s."""

    @abstractmethod
    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""

    def positions(self, t: ArrayLike, joints: Joints = ALL_JOINTS) -> Array:
        """q (N, m) of m joints at the times t (N,): those of `sample`, without its derivatives."""
        return self.sample(t)[0][:, joints]

    def shifted(self, origin: float) -> Trajectory:
        """The same trajectory on a clock that counts from `origin`, s."""
        return self if origin == 0.0 else _ShiftedTrajectory(self, origin)

    def delayed(self, delay: float) -> Trajectory:
        """The same trajectory, later by `delay` s, on the same clock; it is taken to cover the same
        times.
        """
        return self if delay == 0.0 else _DelayedTrajectory(self.shifted(-delay), self.span)

    def raised(self, zero: Array) -> Trajectory:
        """The same trajectory with `zero` (n,), rad or m, added to its positions."""
        return _RaisedTrajectory(self, zero) if np.any(zero) else self

    @abstractmethod
    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        """Piecewise cubic over [start, end] for a loop that runs at `step` s."""


@dataclass(frozen=True, eq=False, init=False)
class Reference(Trajectory):
    """A table of reference positions, with velocities and accelerations where the controller had
    them.

    Without `dq_ref` the velocity is that of the interpolation: the slope of the cubic or linear
    function; of a held reference the backward difference, which is what a sampled controller
    computes (zero at its first sample). `ddq_ref` likewise.
    """

    t: Array
    """(N,) s, rising; need not be regular."""
    q_ref: Array
    """(N, n) rad or m."""
    dq_ref: Array | None = None
    """(N, n) rad/s or m/s."""
    ddq_ref: Array | None = None
    """(N, n) rad/s^2 or m/s^2."""
    interpolation: str = "cubic"
    """"held" (each value until the next), "linear" or "cubic"."""

    def __init__(
        self,
        t: ArrayLike,
        q_ref: ArrayLike,
        dq_ref: ArrayLike | None = None,
        ddq_ref: ArrayLike | None = None,
        interpolation: str = "cubic",
    ) -> None:
        if interpolation not in INTERPOLATIONS:
            raise InputError(
                f"Unknown interpolation {interpolation!r}; "
                f"{nearest(str(interpolation), INTERPOLATIONS)}"
            )
        time = instants(t, "t of the reference")
        width = width_of(q_ref, "q_ref")
        signals = {
            key: None if value is None else samples(value, key, width, time.size).copy()
            for key, value in (("q_ref", q_ref), ("dq_ref", dq_ref), ("ddq_ref", ddq_ref))
        }
        set_fields(self, t=time.copy(), **signals, interpolation=interpolation)

    def __repr__(self) -> str:
        start, end = self.span
        return (
            f"Reference({self.t.size} samples of {self.n} joints, {start:g} to {end:g} s, "
            f"{self.interpolation})"
        )

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.q_ref.shape[1])

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return float(self.t[0]), float(self.t[-1])

    @cached_property
    def _table(self) -> PiecewiseCubic:
        value = _interpolate(self.t, self.q_ref, self.interpolation)
        rate = self._derivative(value, self.dq_ref)
        acceleration = self._derivative(rate, self.ddq_ref)
        return PiecewiseCubic(_knots(self.t), value, rate, acceleration)

    def _derivative(self, coefficients: Array, given: Array | None) -> Array:
        """The derivative of a signal: as given, by backward difference where it is held, else that
        of its cubics.
        """
        if given is not None:
            return _interpolate(self.t, given, self.interpolation)
        if self.interpolation == "held":
            backward = np.diff(coefficients[:, :, 0], axis=0) / np.diff(self.t)[:, None]
            return _interpolate(self.t, np.vstack([0 * backward[:1], backward]), "held")
        slopes = coefficients[:, :, [1, 2, 3, 3]] * [1.0, 2.0, 3.0, 0.0]
        slopes[-1, :, 0] = slopes[-2] @ np.diff(self.t)[-1] ** np.arange(4)
        return np.ascontiguousarray(slopes)

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        """The table's own piecewise cubic, whatever the loop's step."""
        del start, end, step
        return self._table

    def shifted(self, origin: float) -> Trajectory:
        """The same table on a clock that counts from `origin`, s."""
        return self if origin == 0.0 else replace(self, t=self.t - origin)

    def raised(self, zero: Array) -> Trajectory:
        """The same table with `zero` (n,) added to its positions."""
        return replace(self, q_ref=self.q_ref + zero) if np.any(zero) else self

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,), held beyond the ends."""
        cubics = self._table
        index, u = self._located(t)
        return (
            _evaluated(cubics.value[index], u),
            _evaluated(cubics.rate[index], u),
            _evaluated(cubics.acceleration[index], u),
        )

    def positions(self, t: ArrayLike, joints: Joints = ALL_JOINTS) -> Array:
        """q (N, m) of m joints at the times t (N,), held beyond the ends."""
        index, u = self._located(t)
        return _evaluated(self._table.value[index[:, None], np.arange(self.n)[joints]], u)

    def _located(self, t: ArrayLike) -> tuple[NDArray[np.intp], Array]:
        """For each of the times t (N,): the index of its cubic (N,), and the time since that
        began (N, 1), s.
        """
        time, at = self._table.time, np.clip(np.atleast_1d(np.asarray(t, dtype=float)), *self.span)
        index = np.searchsorted(time - TIME_TOLERANCE, at, side="right") - 1
        index = np.clip(index, 0, time.size - 2)
        return index, (at - time[index])[:, None]


class CachedTrajectory(Trajectory):
    """A trajectory that keeps its first piecewise cubics, for loops that are simulated
    repeatedly.
    """

    _MAX_KEPT = 32

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self._kept: dict[tuple[float, float, float], PiecewiseCubic] = {}
        self._moved: dict[float, Trajectory] = {}

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.trajectory.n

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return self.trajectory.span

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        return self.trajectory.sample(t)

    def shifted(self, origin: float) -> Trajectory:
        """The same trajectory on another clock, cached as well."""
        if origin == 0.0:
            return self
        if origin not in self._moved:
            self._moved[origin] = CachedTrajectory(self.trajectory.shifted(origin))
        return self._moved[origin]

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        """The piecewise cubic of the trajectory; those of the first chunks are computed once."""
        key = (start, end, step)
        if (known := self._kept.get(key)) is not None:
            return known
        cubic = self.trajectory.piecewise_cubic(start, end, step)
        if len(self._kept) < self._MAX_KEPT:
            self._kept[key] = cubic
        return cubic


@dataclass(frozen=True, eq=False)
class _ShiftedTrajectory(Trajectory):
    """A trajectory on a clock that counts from another origin."""

    trajectory: Trajectory
    origin: float

    @property
    def n(self) -> int:
        return self.trajectory.n

    @property
    def span(self) -> tuple[float, float]:
        start, end = self.trajectory.span
        return start - self.origin, end - self.origin

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return self.trajectory.sample(np.asarray(t, dtype=float) + self.origin)

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        cubic = self.trajectory.piecewise_cubic(start + self.origin, end + self.origin, step)
        return cubic._replace(time=cubic.time - self.origin)


@dataclass(frozen=True, eq=False)
class _DelayedTrajectory(Trajectory):
    """A trajectory that was shifted by little and keeps the span that it covered before."""

    trajectory: Trajectory
    covered: tuple[float, float]

    @property
    def n(self) -> int:
        return self.trajectory.n

    @property
    def span(self) -> tuple[float, float]:
        return self.covered

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return self.trajectory.sample(t)

    def shifted(self, origin: float) -> Trajectory:
        return _DelayedTrajectory(
            self.trajectory.shifted(origin), (self.span[0] - origin, self.span[1] - origin)
        )

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        return self.trajectory.piecewise_cubic(start, end, step)


@dataclass(frozen=True, eq=False)
class _RaisedTrajectory(Trajectory):
    """A trajectory whose positions have another zero."""

    trajectory: Trajectory
    zero: Array

    @property
    def n(self) -> int:
        return self.trajectory.n

    @property
    def span(self) -> tuple[float, float]:
        return self.trajectory.span

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        q, dq, ddq = self.trajectory.sample(t)
        return q + self.zero, dq, ddq

    def shifted(self, origin: float) -> Trajectory:
        return _RaisedTrajectory(self.trajectory.shifted(origin), self.zero)

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        cubic = self.trajectory.piecewise_cubic(start, end, step)
        value = cubic.value.copy()
        value[:, :, 0] += self.zero
        return cubic._replace(value=value)


def _evaluated(c: Array, u: Array) -> Array:
    """Cubics (K, m, 4) at the times u (K, 1) since each began: (K, m)."""
    return np.asarray(((c[:, :, 3] * u + c[:, :, 2]) * u + c[:, :, 1]) * u + c[:, :, 0])


def _knots(time: Array) -> Array:
    """The knots (N + 1,) of N intervals: the last value has an interval of its own, so that it is
    read at its own time.
    """
    return np.append(time, 2 * time[-1] - time[-2])


def _interpolate(time: Array, values: Array, interpolation: str) -> Array:
    """Coefficients (N, n, 4) of the cubics through `values` (N, n), the last one constant."""
    coefficients = np.zeros((*values.shape, 4))
    coefficients[:, :, 0] = values
    if interpolation == "cubic" and time.size > 2:
        coefficients[:-1] = _coefficients(CubicSpline(time, values, axis=0).c)
    elif interpolation != "held":
        coefficients[:-1, :, 1] = np.diff(values, axis=0) / np.diff(time)[:, None]
    return coefficients


def smooth_piecewise_cubic(time: Array, q: Array, dq: Array, ddq: Array) -> PiecewiseCubic:
    """The piecewise cubic of a motion that is known exactly at the knots: cubics with its values
    and slopes; a spline for ddq.
    """
    value, rate = _hermite(time, q, dq), _hermite(time, dq, ddq)
    return PiecewiseCubic(_knots(time), value, rate, _interpolate(time, ddq, "cubic"))


def _hermite(time: Array, values: Array, slopes: Array) -> Array:
    """Coefficients (N, n, 4) of the cubics with these values and slopes (N, n), the last one
    constant.
    """
    coefficients = np.zeros((*values.shape, 4))
    interval = np.diff(time)[:, None]
    chord = np.diff(values, axis=0) / interval
    bend = (slopes[:-1] + slopes[1:] - 2 * chord) / interval
    coefficients[:, :, 0] = values
    coefficients[:-1, :, 1] = slopes[:-1]
    coefficients[:-1, :, 2] = (chord - slopes[:-1]) / interval - bend
    coefficients[:-1, :, 3] = bend / interval
    return coefficients


def _coefficients(c: Array) -> Array:
    """SciPy's (4, m, n), highest power first, as (m, n, 4), lowest first."""
    return np.ascontiguousarray(np.moveaxis(c[::-1], 0, 2))
