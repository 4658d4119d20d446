"""Factors on the torques of single joints, seen in the record itself.

Joints share base parameters: the inertia that couples joints i and j acts on both torques alike. A
torque that was recorded s_i times too large disagrees with the others,

    Y_i = s_i W_i chi + rho_i,    Y_j = W_j chi + rho_j for the other joints,

and s_i is one more unknown, found by Gauss-Newton from s_i = 1: its column is W_i chi in the rows
of joint i and zero elsewhere, without what the columns of W explain of it. A factor that all
torques have in common is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.regression.least_squares import RANK, Solution
from didim.regression.statistics import score_covariance
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

STEPS = 4
"""Of Gauss-Newton, for a factor that is not near 1."""

STEP = 0.5, 2.0
"""Limits of one step, which multiplies the factor."""

SETTLED = 0.02
"""A last step that is nearer to 1 has settled."""


@dataclass(frozen=True, eq=False)
class TorqueFactors:
    """Of each joint, each (n,), taken to be the only one that is wrong; nan where the other joints
    say nothing about it.
    """

    value: Array
    """s_i."""
    sigma: Array
    """Standard deviation of s_i, for the colour of the residuals; nan where s_i is near 1, or the
    iteration did not settle.
    """
    explained: Array
    """Fraction of the weighted squares of the residual that s_i explains."""


def torque_factors(
    system: LinearSystem, solution: Solution, parameters: Array, near: float
) -> TorqueFactors:
    """The factor of each joint's torque at `parameters` (b,); where the first step is beyond `near`
    or its inverse, more steps and sigma.
    """
    n, weights = system.n, solution.row_weights
    W, y = system.W * weights[:, None], system.y * weights
    rho = y - W @ parameters
    torque = np.zeros((rho.size, n))
    torque[np.arange(rho.size), system.joint] = W @ parameters
    unexplained = torque - W @ (solution.inverse @ (W.T @ torque))
    squares = np.sum(unexplained**2, axis=0)
    seen = squares > RANK * np.sum(torque**2, axis=0)
    first = np.where(seen, unexplained.T @ rho / np.where(seen, squares, 1.0), np.nan)
    value, sigma, explained = 1.0 + first, np.full(n, np.nan), first**2 * squares
    for i in range(n):
        if not seen[i] or 1.0 / near < value[i] < near:
            continue
        own, factor = system.joint == i, 1.0
        column, left = unexplained[:, i], rho
        for _ in range(STEPS):
            step = float(np.clip(1.0 + column @ left / (column @ column), *STEP))
            factor *= step
            scaled = np.where(own, y / factor, y)
            fitted = W @ (parameters + solution.inverse @ (W.T @ (scaled - W @ parameters)))
            left = scaled - fitted
            column = np.where(own, fitted, 0.0)
            column = column - W @ (solution.inverse @ (W.T @ column))
        left = np.where(own, factor * left, left)
        variance, _ = score_covariance(system, solution, left, column[:, None])
        value[i], explained[i] = factor, max(float(rho @ rho - left @ left), 0.0)
        if abs(step - 1.0) < SETTLED:
            sigma[i] = factor * np.sqrt(max(float(variance[0, 0]), 0.0)) / (column @ column)
    return TorqueFactors(value, sigma, explained / max(float(rho @ rho), 1e-300))
