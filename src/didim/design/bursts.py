"""Bursts: short motions about a pose, from rest to rest, that tell of the gains of a loop.

Gains show where the loop does not follow: near its bandwidth, and where friction holds a joint,
whose torque is then that of the loop alone, kv (kp (q_r - q) + ff dq_r), free of every parameter
of the robot. So a joint of a burst either oscillates as fast as its loop and as strongly as its
limits allow, or so little that it sticks and slips.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.design.basis import FourierBasis
from didim.design.limits import Limits
from didim.dynamics.model import BaseModel
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

RAMP = 0.1
"""Of a burst, in which its amplitude rises, and falls at its end."""

FAST = (0.2, 1.6)
"""Frequencies of fast joints, over the bandwidth of the loop."""

SLOW = (0.5, 1.5)
"""Lowest frequency of joints that stick and slip, Hz; the highest is twice as high."""

SWEEP = 0.5
"""Standard deviation of the logarithm of a burst's last frequency over its first."""

LEAST_PERIODS = 1.5
"""Of the slowest oscillation in a burst."""

STRENGTH = (0.4, 1.5)
"""Of fast joints, over what the limits allow; more than 1 is 1."""

REACH = (0.5, 4.0)
"""Of small motions, over the displacement of the reference that frees a joint, Fc / (kp kv)."""

LEAST_AMPLITUDE = 1e-3
"""rad or m: a real contact creeps before it slips, and Coulomb's law is not that of less."""

ROOM = 0.2
"""Of half the range of positions that a burst may take, where its pose leaves that."""

WITHIN = 0.95
"""Of every other limit."""

SAMPLES_PER_PERIOD = 20
"""Of the fastest oscillation, where the peaks of a burst are looked for."""


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
class Burst:
    """A motion about any pose: it starts and ends there, at rest."""

    basis: FourierBasis
    coefficients: Array
    """(n, m)."""

    @property
    def duration(self) -> float:
        """s."""
        return self.basis.duration

    def sampled(self, pose: Array, t: Array) -> Array:
        """(4, N, n) position about a pose (n,), velocity, acceleration and jerk."""
        found = self.basis.shapes(t) @ self.coefficients.T
        found[0] += pose - self._first
        return np.asarray(found)

    @property
    def _first(self) -> Array:
        return np.asarray(self.coefficients @ self.basis.shapes(np.zeros(1))[0, 0])

    def trajectory(self, pose: Array) -> AnalyticTrajectory:
        """About a pose (n,)."""
        return self.basis.trajectory(self.coefficients, pose - self._first)

    def scaled(self, factors: Array) -> Burst:
        """With each joint's displacement times a factor (n,) of at most 1; a joint that would move
        less than `LEAST_AMPLITUDE` stands.
        """
        found = replace(self, coefficients=self.coefficients * factors[:, None])
        count = int(SAMPLES_PER_PERIOD * self.basis.fastest * self.duration)
        moved = found.sampled(np.zeros(factors.size), np.linspace(0.0, self.duration, count))[0]
        stands = (factors < 1.0) & (np.abs(moved).max(axis=0) < LEAST_AMPLITUDE)
        return replace(found, coefficients=np.where(stands[:, None], 0.0, found.coefficients))

    @property
    def stands(self) -> bool:
        """Whether no joint moves."""
        return not np.any(self.coefficients)


def joined(bursts: Sequence[Burst], chosen: NDArray[np.int64]) -> Burst:
    """Each joint as it moves in the burst that is `chosen` for it, (n,) numbers."""
    rows = [bursts[k].coefficients[j] for j, k in enumerate(chosen)]
    return Burst(bursts[0].basis, np.array(rows))


@dataclass(frozen=True, eq=False)
class BurstFamily:
    """What bursts are drawn from."""

    duration: float
    """Of one, s."""
    limits: Limits
    bandwidth: float
    """Of the loop, Hz."""
    freeing: Array
    """(n,) displacement that frees a joint, rad or m; 0: nothing holds it."""
    pose: Array
    """(n,) about which they are."""

    @cached_property
    def basis(self) -> FourierBasis:
        """Fast enough for sweeps that end at the highest frequency, and for slow joints."""
        fastest = max(1.5 * FAST[1] * self.band, 2 * SLOW[1])
        return FourierBasis(self.duration, int(np.ceil(fastest * self.duration)))

    @property
    def band(self) -> float:
        """Bandwidth that a burst can show, Hz: of a loop so slow that hardly a period fits in, the
        lowest that it can.
        """
        return max(self.bandwidth, 2 * LEAST_PERIODS / (FAST[1] * self.duration))

    @cached_property
    def _t(self) -> Array:
        count = int(SAMPLES_PER_PERIOD * self.basis.fastest * self.duration)
        return np.linspace(0.0, self.duration, count)

    @cached_property
    def _shapes(self) -> Array:
        """(4, N, m) of the basis."""
        return self.basis.shapes(self._t)

    @cached_property
    def _fit(self) -> Array:
        """(m, N) from a motion to the coefficients that come nearest to it, wherever it begins."""
        columns = np.hstack([self._shapes[0], np.ones((self._t.size, 1))])
        return np.asarray(np.linalg.pinv(columns, rcond=1e-10)[:-1])

    def drawn(self, random: np.random.Generator) -> Burst:
        """A random one."""
        joints = range(self.freeing.size)
        return Burst(self.basis, np.array([self._joint(j, random) for j in joints]))

    def _joint(self, j: int, random: np.random.Generator) -> Array:
        """(m,) coefficients of a joint that is fast, or sticks and slips."""
        can_stick = REACH[1] * self.freeing[j] >= LEAST_AMPLITUDE
        if can_stick and random.random() < 0.5:
            return self._small(j, random)
        band = np.maximum(np.multiply(FAST, self.band), LEAST_PERIODS / self.duration)
        first = _log_uniform(random, *band)
        last = np.clip(first * np.exp(random.normal(0.0, SWEEP)), *band)
        strength = min(1.0, _log_uniform(random, *STRENGTH))
        coefficients = self._fit @ self._sweep(first, last, random.uniform(0, 2 * np.pi))
        return np.asarray(strength * self._most(j, coefficients) * coefficients)

    def _small(self, j: int, random: np.random.Generator) -> Array:
        """(m,) random coefficients in a band of slow frequencies."""
        hertz = np.tile(np.arange(1, self.basis.harmonics + 1), 2) / self.duration
        low = _log_uniform(random, *np.maximum(SLOW, LEAST_PERIODS / self.duration))
        drawn = random.normal(size=hertz.size)
        within = (hertz >= low) & (hertz <= 2 * low + 1 / self.duration)
        coefficients = np.where(within, drawn, 0.0)
        moved = self._shapes[0] @ coefficients
        reach = max(_log_uniform(random, *REACH) * self.freeing[j], LEAST_AMPLITUDE)
        wanted = reach / np.abs(moved - moved[0]).max()
        return np.asarray(min(self._most(j, coefficients), wanted) * coefficients)

    def _sweep(self, first: float, last: float, phase: float) -> Array:
        """(N,) from one frequency to another, Hz, with the same acceleration throughout."""
        part = self._t / self.duration
        frequency = first + (last - first) * part
        angle = 2 * np.pi * self.duration * (first + 0.5 * (last - first) * part) * part
        rise = np.clip(np.minimum(part, 1.0 - part) / RAMP, 0.0, 1.0)
        window = rise**3 * (10.0 - 15.0 * rise + 6.0 * rise**2)
        return np.asarray(window * np.sin(angle + phase) / frequency**2)

    def _most(self, j: int, coefficients: Array) -> float:
        """Factor at which the motion of a joint meets the first of its limits."""
        found = self._shapes @ coefficients
        found[0] -= found[0, 0]
        limits = self.limits
        low, high = limits.position[j]
        left = min(high - self.pose[j], self.pose[j] - low)
        others = left, limits.velocity[j], limits.acceleration[j], limits.jerk[j]
        room, *further = (WITHIN * each for each in others)
        allowed = np.array([min(ROOM * 0.5 * (high - low), max(room, 0.0)), *further])
        return float(np.min(allowed / np.abs(found).max(axis=1)))


def _log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def freeing(model: BaseModel, parameters: Array, pose: Array, stiffness: Array) -> Array:
    """(n,) displacement of the reference, rad or m, at which a joint that stands begins to move:
    its Coulomb friction over the torque per displacement (n,).
    """
    still, contacts = np.zeros((1, pose.size)), len(model.contacts)
    up, down = (
        model.inverse_dynamics(pose[None], still, still, parameters, np.full((1, contacts), side))
        for side in (1.0, -1.0)
    )
    friction = 0.5 * np.abs(up - down)[0]
    return np.divide(friction, stiffness, out=np.zeros_like(friction), where=stiffness > 0)
