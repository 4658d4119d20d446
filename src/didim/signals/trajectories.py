"""Trajectories to excite a robot: finite Fourier series and quintic point-to-point moves. A table
is a `Reference`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError
from didim.robot.robot import Robot
from didim.signals.cubics import smooth_piecewise_cubic
from didim.signals.kernels.piecewise_cubic import PiecewiseCubic
from didim.signals.trajectory import Trajectory
from didim.validation import instants, per_joint, real, samples, set_fields, table, whole, width_of

Array = NDArray[np.float64]


class AnalyticTrajectory(Trajectory):
    """A motion known at every time by a formula; a loop reads it as cubics through exact values and
    slopes.
    """

    def piecewise_cubic(self, start: float, end: float, step: float) -> PiecewiseCubic:
        """Cubics over [start, end], each as long as the loop's step and at most 1 ms."""
        spacing = min(step, 1e-3)
        count = max(3, int(np.ceil((end - start) / spacing - 1e-6)) + 1)
        time: Array = start + spacing * np.arange(count, dtype=np.float64)
        return smooth_piecewise_cubic(time, *self.sample(time))


@dataclass(frozen=True, eq=False, init=False)
class Fourier(AnalyticTrajectory):
    """Finite Fourier series (Swevers et al. 1997) of L harmonics that starts and ends at rest.

    dq_j = sum over l of a_jl cos(l w t) + b_jl sin(l w t), w = 2 pi / period. So that every period
    begins with zero velocity and acceleration, the coefficients are moved to the nearest ones with
    sum a_jl = 0 and sum l b_jl = 0.
    """

    a: Array
    """(n, L) rad/s or m/s."""
    b: Array
    """(n, L)."""
    period: float
    """s."""
    centre: Array
    """(n,) mean position, rad or m."""
    periods: int = 1

    def __init__(
        self,
        a: ArrayLike,
        b: ArrayLike,
        period: float,
        centre: ArrayLike = 0.0,
        periods: int = 1,
    ) -> None:
        a, b = table(a, "a"), table(b, "b")
        if a.shape != b.shape or a.shape[1] < 2:
            raise InputError(
                f"a and b must have the same shape (n, L) with L >= 2 harmonics, found {a.shape} "
                f"and {b.shape}."
            )
        period, periods = real(period, "period", above=0.0), whole(periods, "periods", least=1)
        order = np.arange(1, a.shape[1] + 1)
        set_fields(
            self,
            a=a - a.mean(axis=1, keepdims=True),
            b=b - np.outer(b @ order, order) / (order @ order),
            period=period,
            centre=per_joint(centre, "centre", a.shape[0]),
            periods=periods,
        )

    @classmethod
    def random(
        cls,
        robot: Robot,
        seed: int,
        period: float = 10.0,
        harmonics: int = 5,
        share: float = 0.6,
        periods: int = 1,
    ) -> Fourier:
        """A random series within `share` of the robot's position and velocity limits (1 rad or 0.2
        m where it has none).
        """
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a didim.Robot, found {type(robot).__name__}.")
        rng = np.random.default_rng(whole(seed, "seed", least=0))
        harmonics, fraction = (
            whole(harmonics, "harmonics", least=2),
            real(share, "share", above=0.0),
        )
        if fraction > 1:
            raise InputError(
                f"share must be at most 1, the robot's own limits, found {fraction:g}."
            )
        first, second = rng.uniform(-1, 1, (2, robot.n, harmonics))
        raw = cls(first, second, period)
        q, dq, _ = raw.sample(np.linspace(0, period, 400, endpoint=False))
        prismatic = np.array([joint.kind == "prismatic" for joint in robot.coordinates])
        lower, upper = robot.position_limits.T
        limited = np.isfinite(lower) & np.isfinite(upper)
        centre = np.where(
            limited, 0.5 * (np.where(limited, lower, 0) + np.where(limited, upper, 0)), 0.0
        )
        reach = np.where(
            limited, 0.5 * (np.where(limited, upper - lower, 0)), np.where(prismatic, 0.2, 1.0)
        )
        speed = np.where(np.isfinite(robot.velocity_limits), robot.velocity_limits, np.inf)
        scale = fraction * np.minimum(reach / np.abs(q).max(axis=0), speed / np.abs(dq).max(axis=0))
        return cls(raw.a * scale[:, None], raw.b * scale[:, None], period, centre, periods)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.a.shape[0])

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return 0.0, self.period * self.periods

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        a, b = self.a, self.b
        order = np.arange(1, a.shape[1] + 1) * 2 * np.pi / self.period
        angle = np.outer(np.clip(np.atleast_1d(t), *self.span), order)
        cos, sin = np.cos(angle), np.sin(angle)
        q = self.centre + sin @ (a / order).T - cos @ (b / order).T
        return q, cos @ a.T + sin @ b.T, cos @ (b * order).T - sin @ (a * order).T


@dataclass(frozen=True, eq=False, init=False)
class PointToPoint(AnalyticTrajectory):
    """Quintic moves between points, at rest (velocity and acceleration zero) in each of them."""

    t: Array
    """(K,) when each point is reached, s."""
    points: Array
    """(K, n) rad or m; repeat a point to wait in it."""

    def __init__(self, t: ArrayLike, points: ArrayLike) -> None:
        time = instants(t, "t of the points")
        width = width_of(points, "points")
        set_fields(self, t=time, points=samples(points, "points", width, time.size))

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.points.shape[1])

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        return float(self.t[0]), float(self.t[-1])

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        time, points = self.t, self.points
        at = np.clip(np.atleast_1d(np.asarray(t, dtype=float)), time[0], time[-1])
        i = np.clip(np.searchsorted(time, at, side="right") - 1, 0, time.size - 2)
        length = (time[i + 1] - time[i])[:, None]
        u, move = (at - time[i])[:, None] / length, points[i + 1] - points[i]
        q = points[i] + move * u**3 * (10 - 15 * u + 6 * u**2)
        dq = move / length * 30 * u**2 * (1 - u) ** 2
        return q, dq, move / length**2 * 60 * u * (1 - u) * (1 - 2 * u)
