"""The covariance that a method will find on a record of a motion: from its regressor, or from the
exact sensitivities of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.design.unknowns import Unknowns
from didim.signals.reference import Trajectory
from didim.simulation.motion import Motion
from didim.simulation.sensitivities import sensitivities

Array = NDArray[np.float64]

MAX_ROWS = 4000
"""Samples of a motion that its information is summed over."""

UNSEEN = 1e-9
"""Eigenvalue of the scaled information below which a direction is not determined."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """How a record is turned into information."""

    unknowns: Unknowns
    loop: Controller | None
    """That a method simulates; None: the method uses the regressor."""
    gains_unknown: bool
    noise: Array
    """(n,) standard deviation of the torque noise of a sample, N.m or N."""
    rate: float
    """Samples per second of the record."""

    def information(self, motion: Motion, trajectory: Trajectory) -> Array:
        """(b, b) of the unknowns and the gains."""
        every = max(1, int(np.ceil(motion.t.size / MAX_ROWS)))
        t = motion.t[::every]
        J = self._columns(motion, trajectory, every)
        samples = self.rate * (motion.t[-1] - motion.t[0]) / t.size
        flat = J.reshape(-1, J.shape[2])
        weighted = (J / self.noise[:, None] ** 2 * samples).reshape(flat.shape)
        return np.asarray(flat.T @ weighted)

    def _columns(self, motion: Motion, trajectory: Trajectory, every: int) -> Array:
        """(K, n, b)."""
        unknowns = self.unknowns
        if self.loop is None or isinstance(self.loop, OwnLaw):
            rows = [each[::every] for each in (motion.q, motion.dq, motion.ddq, motion.slip)]
            return unknowns.reduced(unknowns.regressor(*rows))
        found = sensitivities(
            unknowns.model,
            unknowns.parameters,
            self.loop,
            t=motion.t[::every],
            q_ref=trajectory,
            gains=self.gains_unknown,
            step=1e-3,
        )
        return unknowns.reduced(found.tau)


def sigma_of(information: Array) -> Array:
    """(b,) standard deviations; infinite where the information does not determine an unknown."""
    scale = np.sqrt(np.diag(information))
    seen = scale > 0
    found = np.full(scale.size, np.inf)
    if not seen.any():
        return found
    part = information[np.ix_(seen, seen)] / np.outer(scale[seen], scale[seen])
    values, vectors = np.linalg.eigh(part)
    unseen = values < UNSEEN
    hidden = np.sum(vectors[:, unseen] ** 2, axis=1) > 1e-6
    variance = np.sum(vectors[:, ~unseen] ** 2 / values[~unseen], axis=1)
    found[seen] = np.where(hidden, np.inf, np.sqrt(variance) / scale[seen])
    return found


def geometric_mean(sigma: Array) -> float:
    """Of standard deviations."""
    return float(np.exp(np.mean(np.log(sigma))))
