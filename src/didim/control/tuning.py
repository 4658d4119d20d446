"""The inertia J_j that a joint's loop is tuned for: the largest M_jj over the joint range (51), found numerically.

Along one revolute coordinate M_jj is a trigonometric polynomial of degree two, so five samples give it exactly; along a
prismatic one it is a parabola that opens upward, largest at an end. Coordinates are maximised one after the other until nothing
changes, from the best of a fixed set of starting points: deterministic, and cheap enough for every iteration (59).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from didim.dynamics.model import TorqueModel

Array = NDArray[np.float64]

_STARTS = 64
_SWEEPS = 8
_FIVE = 2 * np.pi * np.arange(5) / 5
_FINE = np.linspace(-np.pi, np.pi, 721)


def largest_inertias(model: TorqueModel, parameters: ArrayLike, previous: Array | None = None) -> Array:
    """J_j = max over q of M_jj(q) (n,), eq. 51; never below 1e-3 of `previous`, where given (an iterate may have J <= 0)."""
    lower, upper = joint_ranges(model)
    phi = np.asarray(parameters, dtype=float)
    points = lower + (upper - lower) * qmc.Halton(model.robot.n, scramble=False).random(_STARTS)
    diagonal = np.diagonal(model.inertia_matrix(points, phi), axis1=1, axis2=2)
    best = points[diagonal.argmax(axis=0)].copy()
    largest = diagonal.max(axis=0)
    for _ in range(_SWEEPS):
        before = largest.copy()
        for k in range(model.robot.n):
            best[:, k] = _maximise(model, phi, best, k, lower[k], upper[k])
        largest = np.diagonal(np.diagonal(model.inertia_matrix(best, phi), axis1=1, axis2=2)).copy()
        if np.all(np.abs(largest - before) <= 1e-12 * np.abs(largest)):
            break
    return largest if previous is None else np.maximum(largest, 1e-3 * np.asarray(previous))


def joint_ranges(model: TorqueModel) -> tuple[Array, Array]:
    """Lower and upper positions (n,): the limits, or +-pi (revolute) and +-1 m (prismatic) where there is none."""
    reach = np.array([1.0 if joint.kind == "prismatic" else np.pi for joint in model.robot.joints])
    lower, upper = model.robot.position_limits.T
    return np.where(np.isfinite(lower), lower, -reach), np.where(np.isfinite(upper), upper, reach)


def _maximise(model: TorqueModel, phi: Array, points: Array, k: int, lower: float, upper: float) -> Array:
    """Best value of coordinate k (n,) for each joint's own point (n, n): row j maximises M_jj."""
    n = model.robot.n
    if model.robot.joints[k].kind == "prismatic":
        candidates = np.broadcast_to([lower, upper], (n, 2))
        return _pick(candidates, _diagonals(model, phi, points, k, candidates))
    values = _diagonals(model, phi, points, k, np.broadcast_to(_FIVE, (n, 5)))
    basis = _harmonics(_FIVE)
    coefficients = np.asarray(np.linalg.solve(basis, values.T), dtype=np.float64)
    grid = np.concatenate([[lower, upper], _FINE[(lower < _FINE) & (upper > _FINE)]])
    if upper > np.pi or lower < -np.pi:
        grid = np.linspace(lower, upper, 1441)
    start = grid[(_harmonics(grid) @ coefficients).argmax(axis=0)]
    return np.clip(_newton(start, coefficients), lower, upper)


def _harmonics(q: Array) -> Array:
    return np.stack([np.ones_like(q), np.cos(q), np.sin(q), np.cos(2 * q), np.sin(2 * q)], axis=-1)


def _newton(q: Array, c: Array) -> Array:
    """Two Newton steps from the best grid point to the maximum of each polynomial, where it curves downward."""
    for _ in range(2):
        slope = -c[1] * np.sin(q) + c[2] * np.cos(q) - 2 * c[3] * np.sin(2 * q) + 2 * c[4] * np.cos(2 * q)
        curve = -c[1] * np.cos(q) - c[2] * np.sin(q) - 4 * c[3] * np.cos(2 * q) - 4 * c[4] * np.sin(2 * q)
        q = q - np.where(curve < 0, np.clip(slope / np.where(curve < 0, curve, -1.0), -0.01, 0.01), 0.0)
    return q


def _diagonals(model: TorqueModel, phi: Array, points: Array, k: int, candidates: Array) -> Array:
    """M_jj (n, m) at row j of `points` with coordinate k set to each of its m candidates."""
    n, m = candidates.shape
    q = np.repeat(points, m, axis=0)
    q[:, k] = candidates.ravel()
    M = model.inertia_matrix(q, phi).reshape(n, m, n, n)
    return M[np.arange(n), :, np.arange(n), np.arange(n)]


def _pick(candidates: Array, values: Array) -> Array:
    return np.take_along_axis(candidates, values.argmax(axis=1)[:, None], axis=1)[:, 0]
