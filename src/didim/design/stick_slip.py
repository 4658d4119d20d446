"""Small motions about a pose, in which the contacts stick and slip: where they stick, the torque is
that of the loop alone, kp kv (q_r - q), and tells of the gains without any parameter of the robot.

A joint with Coulomb friction Fc stands still until the reference has moved by 2 Fc / (kp kv). Fast
motions pass that in a moment; a part of the record with small and slow motions does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.design.basis import FourierBasis
from didim.design.limits import Limits
from didim.design.predict import sigma_of
from didim.dynamics.model import BaseModel
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

BAND = (0.5, 1.0)
"""Of the small motions, Hz."""

LEAST_HARMONICS = 4

SHARE = 0.2
"""Of the duration that they take, where they tell enough."""

REACH = 2.0
"""Their amplitude, over the displacement of the reference that frees a joint, Fc / (kp kv)."""

LEAST_AMPLITUDE = 1e-3
"""rad or m: a real contact creeps before it slips, and Coulomb's law is not that of less."""

ROOM = 0.1
"""Of half the range of positions that they may take; of other limits, five times as much."""

BETTER = 2.0
"""Information of a plan over that of a random motion, where both parameters and gains count."""


@dataclass(frozen=True, eq=False)
class Successive(AnalyticTrajectory):
    """Two trajectories, one after the other; the first ends where the second begins, at rest."""

    first: AnalyticTrajectory
    second: AnalyticTrajectory

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.first.n

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, s."""
        (start, middle), (begin, end) = self.first.span, self.second.span
        return start, middle + end - begin

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, dq, ddq (N, n) at the times t (N,)."""
        at, middle = np.atleast_1d(np.asarray(t, dtype=float)), self.first.span[1]
        early = self.first.sample(np.minimum(at, middle))
        late = self.second.sample(np.maximum(at - middle, 0.0) + self.second.span[0])
        is_late = (at > middle)[:, None]
        q, dq, ddq = (np.where(is_late, b, a) for a, b in zip(early, late, strict=True))
        return q, dq, ddq


@dataclass(frozen=True, eq=False)
class StickSlip:
    """A small motion about any pose: it starts and ends there, at rest."""

    basis: FourierBasis
    coefficients: Array
    """(n, m)."""

    @property
    def duration(self) -> float:
        """s."""
        return self.basis.duration

    @property
    def message(self) -> str:
        """That a part of the plan hardly moves, which is no mistake."""
        return (
            f"The last {self.duration:.3g} s are small motions in which joints stick and slip: "
            "they tell of the gains."
        )

    def sampled(self, t: Array) -> Array:
        """(4, N, n) displacement from the pose, velocity, acceleration and jerk."""
        found = self.basis.shapes(t) @ self.coefficients.T
        found[0] -= self._first
        return np.asarray(found)

    @property
    def _first(self) -> Array:
        return np.asarray(self.coefficients @ self.basis.shapes(np.zeros(1))[0, 0])

    def trajectory(self, pose: Array) -> AnalyticTrajectory:
        """About a pose (n,)."""
        return self.basis.trajectory(self.coefficients, pose - self._first)


def stick_slip(duration: float, amplitude: Array, limits: Limits, seed: int) -> StickSlip:
    """A random one with the largest displacements `amplitude` (n,), or what the limits leave."""
    high = max(LEAST_HARMONICS, round(BAND[1] * duration))
    low = round(high * BAND[0] / BAND[1])
    basis = FourierBasis(duration, high)
    harmonic = np.tile(np.arange(1, high + 1), 2)
    random = np.random.default_rng(seed)
    drawn = random.normal(size=(amplitude.size, basis.count)) * (harmonic >= low)
    raw = StickSlip(basis, drawn)
    peaks = np.abs(raw.sampled(np.linspace(0.0, duration, 200 * high))).max(axis=1)
    half = 0.5 * np.diff(limits.position, axis=1)[:, 0]
    others = 5 * ROOM * np.array([limits.velocity, limits.acceleration, limits.jerk])
    allowed = np.array([np.minimum(amplitude, ROOM * half), *others])
    return StickSlip(basis, drawn * np.min(allowed / peaks, axis=0)[:, None])


def freeing(model: BaseModel, parameters: Array, pose: Array, stiffness: Array) -> Array:
    """(n,) displacement of the reference, rad or m, at which a joint that stands begins to move:
    its Coulomb friction over the torque per displacement (n,).
    """
    still, contacts = np.zeros((1, pose.size)), len(model.contacts)
    up, down = (
        model.inverse_dynamics(pose[None], still, still, parameters, np.full((1, contacts), side))
        for side in (1.0, -1.0)
    )
    return np.asarray(0.5 * np.abs(up - down)[0] / stiffness)


def amplitudes(model: BaseModel, parameters: Array, pose: Array, stiffness: Array) -> Array:
    """(n,) of a small motion, rad or m; 0 for joints that have none."""
    found = REACH * freeing(model, parameters, pose, stiffness)
    return np.where(found < LEAST_AMPLITUDE, 0.0, found)


def balance(information: Array, gains: int) -> float:
    """Mean of log sigma of the parameters plus that of the gains, which come last."""
    sigma = np.log(sigma_of(information))
    return float(sigma[:-gains].mean() + sigma[-gains:].mean())


def is_worth_it(of_motion: Array, of_small: Array, gains: int) -> bool:
    """Whether a small motion serves parameters and gains better than more of the large one, from
    the information (b, b) of a random motion of the whole duration and of the small one.
    """
    plan = BETTER * of_motion
    return balance((1.0 - SHARE) * plan + of_small, gains) < balance(plan, gains)
