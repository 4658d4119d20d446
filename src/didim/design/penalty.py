"""How far a motion on the grid is beyond its limits: squared excess, with its derivatives."""

from __future__ import annotations

from dataclasses import dataclass

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

    def is_met(self, motion: Sampled, tau: Array) -> bool:
        """Whether no limit is exceeded on the grid."""
        within = all(
            np.all(np.abs(signal) <= TIGHTNESS * limit)
            for signal, limit in self._pairs(motion, tau)
        )
        if not within or self.clearances is None:
            return within
        return bool(np.all(self.clearances.distances(motion.q) >= CLEARANCE_RESERVE))

    def value(self, motion: Sampled, tau: Array) -> tuple[float, Sampled, Array]:
        """The number, its derivatives by the motion and by the torque (N, n)."""
        rows, total, slopes = motion.q.shape[0], 0.0, []
        for signal, limit in self._pairs(motion, tau):
            excess = np.maximum(np.abs(signal) / limit - TIGHTNESS, 0.0)
            total += float(np.sum(excess**2))
            slopes.append(2.0 / rows * excess * np.sign(signal) / limit)
        if self.clearances is not None:
            further, by_q = self._clearances(motion.q)
            total, slopes[0] = total + further, slopes[0] + by_q / rows
        return total / rows, Sampled(*slopes[:4]), slopes[4]

    def _pairs(self, motion: Sampled, tau: Array) -> list[tuple[Array, Array]]:
        """Signals (N, n), each about zero, and their limits (n,)."""
        limits = self.limits
        middle = limits.position.mean(axis=1)
        half = 0.5 * np.diff(limits.position, axis=1)[:, 0]
        return [
            (motion.q - middle, half),
            (motion.dq, limits.velocity),
            (motion.ddq, limits.acceleration),
            (motion.dddq, limits.jerk),
            (tau, limits.usable_torque),
        ]

    def _clearances(self, q: Array) -> tuple[float, Array]:
        assert self.clearances is not None
        distance = self.clearances.distances(q)
        excess = np.maximum(CLEARANCE_RESERVE - distance, 0.0) / CLEARANCE_LENGTH
        slope, near = np.zeros_like(q), np.flatnonzero(excess.any(axis=1))
        if near.size:
            n = q.shape[1]
            moved = (q[near] + STEP * np.eye(n)[:, None, :]).reshape(-1, n)
            change = self.clearances.distances(moved).reshape(n, near.size, -1) - distance[near]
            slope[near] = -2.0 / CLEARANCE_LENGTH / STEP * np.sum(excess[near] * change, axis=2).T
        return float(np.sum(excess**2)), slope
