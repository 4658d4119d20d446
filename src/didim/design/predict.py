"""The covariance that a method will find on a record of a motion: from its regressor, or from the
exact sensitivities of the loop, on the rows that the method uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.control.transient import transient_of
from didim.design.criterion import inverse
from didim.design.unknowns import Unknowns
from didim.signals.decimation import Decimation
from didim.signals.rows import RowSelection
from didim.signals.trajectory import Trajectory
from didim.simulation.decimated import decimated_sensitivities
from didim.simulation.motion import Motion
from didim.simulation.prepare import SimulationRequest
from didim.simulation.record_set import MAX_TRANSIENT_FRACTION
from didim.simulation.steps import MAX_SUBSTEPS

Array = NDArray[np.float64]

ROW_RATE = 50.0
"""Rows per second to which methods decimate: what is faster is not used."""

POSES = 97
"""Of a trajectory, at which the time that a loop needs to forget its start is found."""

LARGEST_SIGMA = 1e9
"""SI: what is known no better, such as by the rounding of a motion that sticks, is not known."""

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

    def transient(self, t: Array, trajectory: Trajectory) -> tuple[float, float]:
        """How long the loop needs to forget its initial state along a trajectory at the times t
        (N,), and what DIDIM therefore leaves out at the start, s; 0 where no loop is simulated.
        """
        if self.loop is None:
            return 0.0, 0.0
        poses = trajectory.positions(np.linspace(t[0], t[-1], POSES))
        needed = transient_of(self.unknowns.model, self.unknowns.parameters, self.loop, poses)
        return needed, min(needed, MAX_TRANSIENT_FRACTION * float(t[-1] - t[0]))

    def information(self, motion: Motion, trajectory: Trajectory, cut: bool = True) -> Array:
        """(b, b) of the unknowns and the gains, from a motion on a regular clock: W'W of the
        regressor; J'J of the exact Jacobian where gains or shapes are estimated; else, as plain
        DIDIM solves W' rho = 0, J'W (W'W)^-1 W'J.

        A record begins with the motion, and its transient is `cut`; False: the motion follows
        others in the same record.
        """
        step = float(motion.t[-1] - motion.t[0]) / (motion.t.size - 1)
        selection = RowSelection(max(1, round(1.0 / (ROW_RATE * step))), "fir")
        weight = np.sqrt(self.rate * step * selection.decimation) / self.noise[:, None]
        window = 0, motion.t.size
        if cut:
            window = selection.window(motion.t, self.transient(motion.t, trajectory)[1])

        def flat(columns: Array) -> Array:
            return (columns * weight).reshape(-1, columns.shape[2])

        if self.loop is None or isinstance(self.loop, OwnLaw):
            W = flat(self._regressor(motion, selection, window))
            return np.asarray(W.T @ W)
        J = flat(self._jacobian(self.loop, motion, trajectory, selection.decimator, window))
        if self.gains_unknown or self.unknowns.model.free_shapes:
            return np.asarray(J.T @ J)
        W = flat(self._regressor(motion, selection, window))
        across = W.T @ J
        return np.asarray(across.T @ inverse(W.T @ W)[0] @ across)

    def _regressor(self, motion: Motion, selection: RowSelection, window: tuple[int, int]) -> Array:
        """(K, n, b), decimated over the samples of a window."""
        unknowns = self.unknowns

        def rows(start: int, stop: int) -> Array:
            signals = (motion.q, motion.dq, motion.ddq, motion.slip)
            q, dq, ddq, slip = (each[start:stop] for each in signals)
            return unknowns.reduced(unknowns.regressor(q, dq, ddq, slip)).reshape(stop - start, -1)

        shape = (-1, unknowns.model.robot.n, len(unknowns.names))
        return selection.reduce(window, rows).reshape(shape)

    def _jacobian(
        self,
        loop: Controller,
        motion: Motion,
        trajectory: Trajectory,
        decimator: Decimation,
        window: tuple[int, int],
    ) -> Array:
        """(K, n, b) of the simulated torque, decimated over the samples of a window."""
        model, parameters = self.unknowns.model, self.unknowns.parameters
        request = SimulationRequest(
            model, parameters, loop, motion.t, trajectory, None, "exact", 0.05, None, None,
            MAX_SUBSTEPS,
        )  # fmt: skip
        found = decimated_sensitivities(
            request, self.gains_unknown, False, ("tau",), decimator, window
        )
        return self.unknowns.reduced(found.J)


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
    return np.where(found > LARGEST_SIGMA, np.inf, found)


def geometric_mean(sigma: Array) -> float:
    """Of standard deviations."""
    return float(np.exp(np.mean(np.log(sigma))))
