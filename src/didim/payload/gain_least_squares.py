"""Drive gains by weighted and by total least squares (Gautier and Briot 2014).

With v_j in columns of their own, g_j v_j - A x = 0 is linear in gains and parameters together:

    weighted   [V  -A basis] (g, z) = A offset
    total      [V  -A basis  -A offset] (g, z, 1) = 0 by the smallest singular vector.

Least squares takes the columns V for exact. They hold the noise of the control signals, which draws
gains towards zero; total least squares takes every column for equally noisy, which they are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.base.numerical import independent_columns
from didim.payload.gain_equations import GainEquations

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of one method."""

    values: Array
    """(n,) torque per unit of the control signal."""
    sigma: Array
    """(n,)."""


def weighted_gains(equations: GainEquations) -> Gains:
    """By least squares on all joints, then again with rows divided by the standard deviation of
    what is left of their joint.
    """
    columns = _columns(equations)
    target, joint = equations.A @ equations.offset, equations.system.joint
    weights = np.ones(target.size)
    for _ in range(2):
        M, y = columns * weights[:, None], target * weights
        x = np.linalg.lstsq(M, y, rcond=None)[0]
        left = target - columns @ x
        size = np.array([np.sqrt(np.mean(left[joint == j] ** 2)) for j in range(equations.n)])
        weights = 1.0 / np.maximum(size, 1e-12 * size.max())[joint]
    rest = y - M @ x
    variance = float(rest @ rest) / max(y.size - x.size, 1)
    covariance = variance * np.linalg.pinv(M.T @ M, hermitian=True)
    sigma = np.sqrt(np.diag(covariance))
    return Gains(np.asarray(x[: equations.n], dtype=np.float64), sigma[: equations.n])


def total_gains(equations: GainEquations) -> Gains:
    """By the smallest singular vector of all columns of equal length, rows weighted as the control
    signals are.
    """
    columns = _columns(equations)
    n, seen = equations.n, independent_columns(columns[:, equations.n :])[0]
    known = -(equations.A @ equations.offset)
    chosen = np.column_stack([columns[:, :n], columns[:, n:][:, seen], known])
    M = chosen * equations.weights[:, None]
    size = np.linalg.norm(M, axis=0)
    size = np.where(size > 0, size, 1.0)
    singular, V = np.linalg.svd(M / size, full_matrices=False)[1:]
    vector = V[-1] / size
    with np.errstate(divide="ignore", invalid="ignore"):
        x = vector[:-1] / vector[-1]
    scaled = x * size[:-1]
    variance = float(singular[-1]) ** 2 / max(len(M) - x.size, 1)
    grown = variance * (size[-1] ** 2 + float(scaled @ scaled))
    within = M[:, :-1] / size[:-1]
    inverse = np.linalg.pinv(within.T @ within, hermitian=True)
    sigma = np.sqrt(np.maximum(grown * np.diag(inverse), 0.0)) / size[:-1]
    return Gains(x[: equations.n], sigma[: equations.n])


def _columns(equations: GainEquations) -> Array:
    """(r, n + m) [V  -A basis]."""
    V = equations.by_joint(equations.system.y)
    return np.hstack([V, -equations.A @ equations.basis])
