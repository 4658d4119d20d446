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
from didim.signals.decimation import Decimation
from didim.signals.reference import Trajectory
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest
from didim.simulation.setup import MAX_SUBSTEPS

Array = NDArray[np.float64]

ROW_RATE = 50.0
"""Rows per second to which methods decimate: what is faster is not used."""

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
        """(b, b) of the unknowns and the gains, from a motion on a regular clock."""
        step = float(motion.t[-1] - motion.t[0]) / (motion.t.size - 1)
        decimator = Decimation(max(1, round(1.0 / (ROW_RATE * step))), "fir")
        J = self._columns(motion, trajectory, decimator)
        samples = self.rate * step * decimator.factor
        flat = J.reshape(-1, J.shape[2])
        weighted = (samples * J / self.noise[:, None] ** 2).reshape(flat.shape)
        return np.asarray(flat.T @ weighted)

    def _columns(self, motion: Motion, trajectory: Trajectory, decimator: Decimation) -> Array:
        """(K, n, b), decimated."""
        unknowns, loop = self.unknowns, self.loop
        model, n = unknowns.model, unknowns.model.robot.n
        if loop is None or isinstance(loop, OwnLaw):

            def rows(start: int, stop: int) -> Array:
                part = [each[start:stop] for each in (motion.q, motion.dq, motion.ddq, motion.slip)]
                return unknowns.reduced(unknowns.regressor(*part)).reshape(stop - start, -1)

            return decimator.apply(motion.t.size, rows).reshape(-1, n, len(unknowns.names))
        request = SimulationRequest(
            model, unknowns.parameters, loop, motion.t, trajectory, None, "exact", 0.05, None,
            None, MAX_SUBSTEPS,
        )  # fmt: skip
        span = (0, motion.t.size)
        found = decimated_sensitivities(
            request, self.gains_unknown, False, ("tau",), decimator, span
        )
        return unknowns.reduced(found.J)


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
