"""Motions that are linear in their coefficients: finite Fourier series and B-splines, from rest to
rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from didim.design.spline import DEGREE, Spline, clamped_knots
from didim.signals.trajectories import AnalyticTrajectory, Fourier

Array = NDArray[np.float64]


class MotionBasis(ABC):
    """m shapes of a motion over [0, duration]; joint j moves by offset_j + shapes @ coefficients_j.

    Velocity and acceleration of every shape are zero at both ends.
    """

    duration: float

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of shapes, m."""

    @property
    @abstractmethod
    def fastest(self) -> float:
        """Highest frequency of the shapes, Hz."""

    @abstractmethod
    def shapes(self, t: Array) -> Array:
        """(4, N, m) position, velocity, acceleration and jerk of the shapes at the times (N,)."""

    @abstractmethod
    def trajectory(self, coefficients: Array, offset: Array) -> AnalyticTrajectory:
        """The motion of coefficients (n, m) and offset (n,)."""

    def random_weights(self, random: np.random.Generator) -> Array:
        """(m,) which shapes a random motion has."""
        del random
        return np.ones(self.count)


@dataclass(frozen=True)
class FourierBasis(MotionBasis):
    """The series of `didim.Fourier` over one period."""

    duration: float
    harmonics: int

    @property
    def count(self) -> int:
        """Two for each harmonic: a and b."""
        return 2 * self.harmonics

    @property
    def fastest(self) -> float:
        """Of the last harmonic, Hz."""
        return self.harmonics / self.duration

    @cached_property
    def _projection(self) -> Array:
        """(2 L, 2 L) onto sum a_l = 0 and sum l b_l = 0, with which the series starts at rest."""
        L, order = self.harmonics, np.arange(1.0, self.harmonics + 1)
        found = np.zeros((2 * L, 2 * L))
        found[:L, :L] = np.eye(L) - 1.0 / L
        found[L:, L:] = np.eye(L) - np.outer(order, order) / (order @ order)
        return found

    def shapes(self, t: Array) -> Array:
        """As `MotionBasis.shapes`."""
        omega = 2 * np.pi / self.duration * np.arange(1, self.harmonics + 1)
        angle = np.outer(t, omega)
        cos, sin = np.cos(angle), np.sin(angle)
        raw = [
            np.hstack([sin / omega, -cos / omega]),
            np.hstack([cos, sin]),
            np.hstack([-omega * sin, omega * cos]),
            np.hstack([-(omega**2) * cos, -(omega**2) * sin]),
        ]
        return np.stack(raw) @ self._projection

    def random_weights(self, random: np.random.Generator) -> Array:
        """All harmonics up to a random one in the upper two thirds."""
        L = self.harmonics
        last = random.integers(max(2, L // 3), L, endpoint=True)
        return np.tile((np.arange(L) < last).astype(np.float64), 2)

    def trajectory(self, coefficients: Array, offset: Array) -> Fourier:
        """As `MotionBasis.trajectory`."""
        L = self.harmonics
        return Fourier(coefficients[:, :L], coefficients[:, L:], self.duration, offset)


@dataclass(frozen=True)
class SplineBasis(MotionBasis):
    """Quintic B-splines with equal spacing; the last three coefficients are one, so that the motion
    ends at rest, and the first three are the offset.
    """

    duration: float
    intervals: int

    @property
    def count(self) -> int:
        """Coefficients that are free."""
        return self.intervals + DEGREE - 5

    @property
    def fastest(self) -> float:
        """A turn takes about two intervals, Hz."""
        return 0.5 * self.intervals / self.duration

    @cached_property
    def _fold(self) -> Array:
        """(intervals + 5, m) from the free coefficients to all."""
        fold = np.zeros((self.intervals + DEGREE, self.count))
        fold[3:-3, :-1] = np.eye(self.count - 1)
        fold[-3:, -1] = 1.0
        return fold

    def shapes(self, t: Array) -> Array:
        """As `MotionBasis.shapes`."""
        knots = clamped_knots(self.duration, self.intervals)
        spline = BSpline(knots, self._fold, DEGREE)
        return np.stack([spline(t, order) for order in range(4)])

    def trajectory(self, coefficients: Array, offset: Array) -> Spline:
        """As `MotionBasis.trajectory`."""
        return Spline((self._fold @ coefficients.T).T + offset[:, None], self.duration)
