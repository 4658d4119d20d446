"""How far a motion on the grid is beyond its limits: squared excess, with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.design.clearance import Clearances
from didim.design.limits import Limits
from didim.design.motions import Sampled

Array = NDArray[np.float64]

TIGHTNESS = 0.97
"""Fraction of the limits that the search aims at: between the samples of its grid a motion may
exceed them.
"""

REGAINED = 1.02
"""Part of that fraction that is not needed once it is known how far a motion exceeds a limit."""

CLEARANCE_LENGTH = 0.1
"""Excess of a clearance counts in units of this, m."""

CLEARANCE_RESERVE = 0.01
"""What the search keeps beyond a clearance, m."""

STEP = 1e-6
"""Of the joints, for derivatives of clearances, rad or m."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """mean over the samples of the sum of squared excesses, each over its limit."""

    limits: Limits
    clearances: Clearances | None
    tightness: Array | float = TIGHTNESS
    """(5, n) fraction of each limit of position, velocity, acceleration, jerk and torque."""
    reserve: Array | float = CLEARANCE_RESERVE
    """(k,) of each clearance, m."""

    def tightened(self, excess: Array, shortfall: Array) -> Penalty:
        """For a motion that exceeds limits by fractions (5, n), and clearances by (k,) m, where the
        grid does not show it.
        """
        tight = np.where(excess > 0, REGAINED * self.tightness / (1.0 + excess), self.tightness)
        return replace(self, tightness=tight, reserve=self.reserve + shortfall)

    def is_met(self, motion: Sampled, tau: Array) -> bool:
        """Whether no limit is exceeded on the grid."""
        within = all(
            np.all(np.abs(signal) <= tightness * limit)
            for signal, limit, tightness in self._limited(motion, tau)
        )
        if not within or self.clearances is None:
            return within
        return bool(np.all(self.clearances.distances(motion.q) >= self.reserve))

    def value(self, motion: Sampled, tau: Array) -> tuple[float, Sampled, Array]:
        """The number, its derivatives by the motion and by the torque (N, n)."""
        rows, total, slopes = motion.q.shape[0], 0.0, []
        for signal, limit, tightness in self._limited(motion, tau):
            excess = np.maximum(np.abs(signal) / limit - tightness, 0.0)
            total += float(np.sum(excess**2))
            slopes.append(2.0 / rows * excess * np.sign(signal) / limit)
        if self.clearances is not None:
            further, by_q = self._clearances(motion.q)
            total, slopes[0] = total + further, slopes[0] + by_q / rows
        return total / rows, Sampled(*slopes[:4]), slopes[4]

    def _limited(self, motion: Sampled, tau: Array) -> list[tuple[Array, Array, Array]]:
        """Signals (N, n), each about zero, their limits (n,), and which fraction of them counts."""
        limits = self.limits
        middle = limits.position.mean(axis=1)
        half = 0.5 * np.diff(limits.position, axis=1)[:, 0]
        pairs = [
            (motion.q - middle, half),
            (motion.dq, limits.velocity),
            (motion.ddq, limits.acceleration),
            (motion.dddq, limits.jerk),
            (tau, limits.usable_torque),
        ]
        tightness = np.broadcast_to(self.tightness, (len(pairs), half.size))
        return [(*pair, part) for pair, part in zip(pairs, tightness, strict=True)]

    def _clearances(self, q: Array) -> tuple[float, Array]:
        assert self.clearances is not None
        distance = self.clearances.distances(q)
        excess = np.maximum(self.reserve - distance, 0.0) / CLEARANCE_LENGTH
        slope, near = np.zeros_like(q), np.flatnonzero(excess.any(axis=1))
        if near.size:
            n = q.shape[1]
            moved = (q[near] + STEP * np.eye(n)[:, None, :]).reshape(-1, n)
            change = self.clearances.distances(moved).reshape(n, near.size, -1) - distance[near]
            slope[near] = -2.0 / CLEARANCE_LENGTH / STEP * np.sum(excess[near] * change, axis=2).T
        return float(np.sum(excess**2)), slope
