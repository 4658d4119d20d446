"""`Reference`: the motion that the controller was asked for, on a clock of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from didim.errors import InputError, nearest
from didim.signals.kernels.pieces import TICK, Pieces
from didim.validation import instants, samples, width_of

Array = NDArray[np.float64]

INTERPOLATIONS = ("held", "linear", "cubic")


class Course(ABC):
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

    def shifted(self, origin: float) -> Course:
        """The same course on a clock that counts from `origin`, s."""
        return self if origin == 0.0 else _Shifted(self, origin)

    def delayed(self, delay: float) -> Course:
        """The same course, later by `delay` s, on the same clock; it is taken to cover the same
        times.
        """
        return self if delay == 0.0 else _Delayed(self.shifted(-delay), self.span)

    @abstractmethod
    def pieces(self, start: float, end: float, step: float) -> Pieces:
        """Cubic pieces that cover [start, end] for a loop that runs at `step` s."""


@dataclass(frozen=True, eq=False)
class Reference(Course):
    """A table of reference positions, with velocities and accelerations where the controller had
    them.

    Without `dq_ref` the velocity is that of the interpolation: the slope of the cubic or linear
    pieces; of a held reference the backward difference, which is what a sampled controller computes
    (zero at its first sample). `ddq_ref` likewise.
    """

    t: ArrayLike
    """(N,) s, rising; need not be regular."""
    q_ref: ArrayLike
    """(N, n) rad or m."""
    dq_ref: ArrayLike | None = None
    ddq_ref: ArrayLike | None = None
    interpolation: str = "cubic"
    """"held" (each value until the next), "linear" or "cubic"."""

    def __post_init__(self) -> None:
        if self.interpolation not in INTERPOLATIONS:
            raise InputError(
                f"Unknown interpolation {self.interpolation!r}; "
                f"{nearest(str(self.interpolation), INTERPOLATIONS)}"
            )
        time = instants(self.t, "t of the reference")
        width = width_of(self.q_ref, "q_ref")
        object.__setattr__(self, "t", time.copy())
        for name in ("q_ref", "dq_ref", "ddq_ref"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, samples(value, name, width, time.size).copy())

    def __repr__(self) -> str:
        start, end = self.span
        return (
            f"Reference({np.size(self.t)} samples of {self.n} joints, {start:g} to {end:g} s, "
            f"{self.interpolation})"
        )

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(np.shape(self.q_ref)[1])

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        time = np.asarray(self.t)
        return float(time[0]), float(time[-1])

    @cached_property
    def _all(self) -> Pieces:
        time = np.asarray(self.t, dtype=float)
        value = _interpolate(time, np.asarray(self.q_ref), self.interpolation)
        rate = self._companion(time, value, self.dq_ref)
        return Pieces(_closed(time), value, rate, self._companion(time, rate, self.ddq_ref))

    def _companion(self, time: Array, pieces: Array, given: ArrayLike | None) -> Array:
        """The derivative of a signal: as given, by backward difference where it is held, else that
        of its pieces.
        """
        if given is not None:
            return _interpolate(time, np.asarray(given), self.interpolation)
        if self.interpolation == "held":
            backward = np.diff(pieces[:, :, 0], axis=0) / np.diff(time)[:, None]
            return _interpolate(time, np.vstack([0 * backward[:1], backward]), "held")
        slopes = pieces[:, :, [1, 2, 3, 3]] * [1.0, 2.0, 3.0, 0.0]
        slopes[-1, :, 0] = slopes[-2] @ np.diff(time)[-1] ** np.arange(4)
        return np.ascontiguousarray(slopes)

    def pieces(self, start: float, end: float, step: float) -> Pieces:
        """The table's own pieces, whatever the loop's step."""
        del start, end, step
        return self._all

    def shifted(self, origin: float) -> Course:
        """The same table on a clock that counts from `origin`, s."""
        return self if origin == 0.0 else replace(self, t=np.asarray(self.t) - origin)

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,), held beyond the ends."""
        pieces, at = self._all, np.clip(np.atleast_1d(np.asarray(t, dtype=float)), *self.span)
        index = np.clip(
            np.searchsorted(pieces.time - TICK, at, side="right") - 1, 0, pieces.time.size - 2
        )
        u = (at - pieces.time[index])[:, None]
        q, dq, ddq = (
            ((c[index, :, 3] * u + c[index, :, 2]) * u + c[index, :, 1]) * u + c[index, :, 0]
            for c in pieces[1:]
        )
        return q, dq, ddq


class Cached(Course):
    """A course that remembers its first pieces, for loops that are simulated again and again."""

    _MOST = 32

    def __init__(self, course: Course) -> None:
        self.course = course
        self._kept: dict[tuple[float, float, float], Pieces] = {}
        self._moved: dict[float, Course] = {}

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.course.n

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return self.course.span

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        return self.course.sample(t)

    def shifted(self, origin: float) -> Course:
        """The same course on another clock, remembered as well."""
        if origin == 0.0:
            return self
        if origin not in self._moved:
            self._moved[origin] = Cached(self.course.shifted(origin))
        return self._moved[origin]

    def pieces(self, start: float, end: float, step: float) -> Pieces:
        """The pieces of the course; those of the first chunks are computed once."""
        key = (start, end, step)
        if (known := self._kept.get(key)) is not None:
            return known
        pieces = self.course.pieces(start, end, step)
        if len(self._kept) < self._MOST:
            self._kept[key] = pieces
        return pieces


@dataclass(frozen=True, eq=False)
class _Shifted(Course):
    """A course on a clock that counts from another origin."""

    course: Course
    origin: float

    @property
    def n(self) -> int:
        return self.course.n

    @property
    def span(self) -> tuple[float, float]:
        start, end = self.course.span
        return start - self.origin, end - self.origin

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return self.course.sample(np.asarray(t, dtype=float) + self.origin)

    def pieces(self, start: float, end: float, step: float) -> Pieces:
        pieces = self.course.pieces(start + self.origin, end + self.origin, step)
        return pieces._replace(time=pieces.time - self.origin)


@dataclass(frozen=True, eq=False)
class _Delayed(Course):
    """A course that was shifted by little, so that it still stands for the times that it covered
    before.
    """

    course: Course
    covered: tuple[float, float]

    @property
    def n(self) -> int:
        return self.course.n

    @property
    def span(self) -> tuple[float, float]:
        return self.covered

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        return self.course.sample(t)

    def shifted(self, origin: float) -> Course:
        return _Delayed(self.course.shifted(origin), (self.span[0] - origin, self.span[1] - origin))

    def pieces(self, start: float, end: float, step: float) -> Pieces:
        return self.course.pieces(start, end, step)


def _closed(time: Array) -> Array:
    """The knots (N + 1,) of N pieces: the last value has a piece of its own, so that it is read at
    its own time.
    """
    return np.append(time, 2 * time[-1] - time[-2])


def _interpolate(time: Array, values: Array, interpolation: str) -> Array:
    """Coefficients (N, n, 4) of the pieces through `values` (N, n), the last one constant."""
    pieces = np.zeros((*values.shape, 4))
    pieces[:, :, 0] = values
    if interpolation == "cubic" and time.size > 2:
        pieces[:-1] = _coefficients(CubicSpline(time, values, axis=0).c)
    elif interpolation != "held":
        pieces[:-1, :, 1] = np.diff(values, axis=0) / np.diff(time)[:, None]
    return pieces


def smooth_pieces(time: Array, q: Array, dq: Array, ddq: Array) -> Pieces:
    """Pieces of a motion that is known exactly at the knots: cubics with its values and slopes; a
    spline for ddq.
    """
    value, rate, acceleration = (_interpolate(time, signal, "cubic") for signal in (q, dq, ddq))
    value[:-1] = _coefficients(CubicHermiteSpline(time, q, dq, axis=0).c)
    rate[:-1] = _coefficients(CubicHermiteSpline(time, dq, ddq, axis=0).c)
    return Pieces(_closed(time), value, rate, acceleration)


def _coefficients(c: Array) -> Array:
    """SciPy's (4, m, n), highest power first, as (m, n, 4), lowest first."""
    return np.ascontiguousarray(np.moveaxis(c[::-1], 0, 2))
