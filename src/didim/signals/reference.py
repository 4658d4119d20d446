"""`Reference`: the motion that the controller follows, on a clock of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, nearest
from didim.signals.cubics import evaluated, interpolated, knots_of
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE, PiecewiseCubic
from didim.signals.trajectory import ALL_JOINTS, Joints, Trajectory
from didim.validation import instants, samples, set_fields, width_of

Array = NDArray[np.float64]

INTERPOLATIONS = ("held", "linear", "cubic")


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
    def spacing(self) -> float:
        """The median of the times between two samples, s."""
        return float(np.median(np.diff(self.t)))

    @cached_property
    def _table(self) -> PiecewiseCubic:
        value = interpolated(self.t, self.q_ref, self.interpolation)
        rate = self._derivative(value, self.dq_ref)
        acceleration = self._derivative(rate, self.ddq_ref)
        return PiecewiseCubic(knots_of(self.t), value, rate, acceleration)

    def _derivative(self, coefficients: Array, given: Array | None) -> Array:
        """The derivative of a signal: as given, by backward difference where it is held, else that
        of its cubics.
        """
        if given is not None:
            return interpolated(self.t, given, self.interpolation)
        if self.interpolation == "held":
            backward = np.diff(coefficients[:, :, 0], axis=0) / np.diff(self.t)[:, None]
            return interpolated(self.t, np.vstack([0 * backward[:1], backward]), "held")
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
            evaluated(cubics.value[index], u),
            evaluated(cubics.rate[index], u),
            evaluated(cubics.acceleration[index], u),
        )

    def positions(self, t: ArrayLike, joints: Joints = ALL_JOINTS) -> Array:
        """q (N, m) of m joints at the times t (N,), held beyond the ends."""
        index, u = self._located(t)
        return evaluated(self._table.value[index[:, None], np.arange(self.n)[joints]], u)

    def _located(self, t: ArrayLike) -> tuple[NDArray[np.intp], Array]:
        """For each of the times t (N,): the index of its cubic (N,), and the time since that
        began (N, 1), s.
        """
        time, at = self._table.time, np.clip(np.atleast_1d(np.asarray(t, dtype=float)), *self.span)
        index = np.searchsorted(time, at + TIME_TOLERANCE, side="right") - 1
        index = np.clip(index, 0, time.size - 2)
        return index, (at - time[index])[:, None]
