"""`Trajectory`: a motion over time, on another clock, later, with another zero, or cached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.signals.kernels.piecewise_cubic import PiecewiseCubic

Array = NDArray[np.float64]

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
        return self if delay == 0.0 else _AdjustedTrajectory(self.shifted(-delay), self.span)

    def raised(self, zero: Array) -> Trajectory:
        """The same trajectory with `zero` (n,), rad or m, added to its positions."""
        return _AdjustedTrajectory(self, self.span, zero) if np.any(zero) else self

    @abstractmethod
    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        """Piecewise cubic over [start, end] for a loop that runs at `step` s."""


class CachedTrajectory(Trajectory):
    """A trajectory that keeps its piecewise cubics, for loops that are simulated repeatedly; those
    of a long one are computed anew, since few of them would fit.
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
        """The piecewise cubic of the trajectory, computed once where that of all of it is kept."""
        key = (start, end, step)
        if (known := self._kept.get(key)) is not None:
            return known
        cubic = self.trajectory.piecewise_cubic(start, end, step)
        first, last = self.span
        if len(self._kept) < self._MAX_KEPT and last - first <= self._MAX_KEPT * (end - start):
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
class _AdjustedTrajectory(Trajectory):
    """A trajectory that is taken to cover `covered`, s, and whose positions have another zero."""

    trajectory: Trajectory
    covered: tuple[float, float]
    zero: Array | None = None

    @property
    def n(self) -> int:
        return self.trajectory.n

    @property
    def span(self) -> tuple[float, float]:
        return self.covered

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        q, dq, ddq = self.trajectory.sample(t)
        return q if self.zero is None else q + self.zero, dq, ddq

    def shifted(self, origin: float) -> Trajectory:
        start, end = self.covered
        moved = self.trajectory.shifted(origin)
        return _AdjustedTrajectory(moved, (start - origin, end - origin), self.zero)

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        cubic = self.trajectory.piecewise_cubic(start, end, step)
        if self.zero is None:
            return cubic
        value = cubic.value.copy()
        value[:, :, 0] += self.zero
        return cubic._replace(value=value)
