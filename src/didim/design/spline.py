"""`Spline`: a motion of quintic B-splines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BSpline

from didim.errors import InputError
from didim.signals.trajectories import AnalyticTrajectory
from didim.validation import real, set_fields, table

Array = NDArray[np.float64]

DEGREE = 5


def clamped_knots(duration: float, intervals: int) -> Array:
    """Knots over [0, duration] at equal distances, the ends repeated."""
    inner = np.linspace(0.0, duration, intervals + 1)
    return np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, duration)])


@dataclass(frozen=True, eq=False, init=False)
class Spline(AnalyticTrajectory):
    """Quintic B-splines with equally spaced knots over [0, duration]. It is at rest at an end where
    three coefficients are equal.
    """

    coefficients: Array
    """(n, K) rad or m."""
    duration: float
    """s."""

    def __init__(self, coefficients: ArrayLike, duration: float) -> None:
        given = table(coefficients, "coefficients")
        if given.shape[1] <= DEGREE:
            raise InputError(
                f"A quintic spline needs at least {DEGREE + 1} coefficients per joint, found "
                f"{given.shape[1]}."
            )
        set_fields(self, coefficients=given, duration=real(duration, "duration", above=0.0))

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[0])

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return 0.0, self.duration

    @cached_property
    def _spline(self) -> BSpline:
        knots = clamped_knots(self.duration, self.coefficients.shape[1] - DEGREE)
        return BSpline(knots, self.coefficients.T, DEGREE)

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        at = np.clip(np.atleast_1d(np.asarray(t, dtype=float)), *self.span)
        q, dq, ddq = (self._spline(at, order) for order in range(3))
        return q, dq, ddq
