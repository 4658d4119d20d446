"""The point of a model's physically consistent set that is closest to its prior and has given base
parameters.

    minimise  barrier(theta)  subject to  matrix theta = beta

Newton's method first follows a straight line of base parameters to beta, from a robot of spherical
links in the middle of the set, and stays close to the least barrier around that robot. The set is
convex: if beta is physically consistent, so is every point of that line, and the path reaches beta.
From there the least barrier around the prior itself is computed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.consistent import Consistent
from didim.dynamics.known import Known
from didim.errors import InputError

Array = NDArray[np.float64]

_MAX_STEPS = 200
_BOUNDARY_FRACTION = 0.7
"""Fraction of the distance to the boundary that one step may go."""

_MIN_STEP_FRACTION = 1e-8
"""Fraction of a step below which the path has stalled: beta is not physically consistent."""

_PATH_DECREMENT, _FINAL_DECREMENT = 0.1, 1e-18
"""Newton decrement at which a point of the path, and the final point, counts as the minimum."""


def least_barrier(
    barrier: Consistent, middle: Consistent, matrix: Array, beta: Array, moves: NDArray[np.bool_]
) -> Array | None:
    """theta (p,) with matrix @ theta = beta, equal to the prior where it may not move; None where
    beta is not physically consistent.

    `middle` is the barrier around a robot of spherical links that agrees with the prior where it
    may not move.
    """
    try:
        return _path_to(barrier, middle, matrix, beta, moves)
    except linalg.LinAlgError:  # so near to the boundary that rounding decides
        return None


def with_known(barrier: Consistent, known: Known | None) -> Consistent:
    """The barrier of the part of the set that has the known values, around the closest point there;
    refused where no physical robot has them.
    """
    if known is None:
        return barrier
    own = replace(barrier, known=known)
    moves = np.ones(barrier.prior.size, dtype=bool)
    theta = least_barrier(own, own, known.rows, known.targets, moves)
    if theta is None:
        values = ", ".join(f"{name} = {value:g}" for name, value in known.values.items())
        raise InputError(
            f"fixed: no physical robot has {values}. Steps inside the physically consistent set "
            "need one; IDIM and DIDIM alone (consistent = false, refine = false) and OutputError "
            "with barrier = false do not."
        )
    theta[known.columns] = known.origin[known.columns]
    return replace(own, prior=theta)


def _path_to(
    barrier: Consistent, middle: Consistent, matrix: Array, beta: Array, moves: NDArray[np.bool_]
) -> Array | None:
    theta = middle.prior.copy()
    scale = np.linalg.norm(beta) + np.linalg.norm(matrix @ theta)
    for _ in range(_MAX_STEPS):
        residual = beta - matrix @ theta
        if np.linalg.norm(residual) <= 1e-14 * scale:
            break
        step, _ = _newton(middle, matrix, theta, residual, moves)
        fraction = min(1.0, _BOUNDARY_FRACTION * middle.reach(theta, step))
        if fraction < _MIN_STEP_FRACTION:
            return None
        theta = _centred(middle, matrix, theta + fraction * step, moves, _PATH_DECREMENT)
    for found in (_centred(barrier, matrix, theta, moves, _FINAL_DECREMENT), theta):
        projected = _projected(barrier, matrix, beta, found, moves)
        if (
            barrier.contains(projected)
            and np.linalg.norm(matrix @ projected - beta) <= 1e-12 * scale
        ):
            return projected
    return None


def _projected(
    barrier: Consistent, matrix: Array, beta: Array, theta: Array, moves: NDArray[np.bool_]
) -> Array:
    """theta corrected for the rounding error of matrix @ theta = beta, in units of the barrier."""
    size = np.where(moves, 1.0 / np.sqrt(np.diag(barrier.slopes(theta)[1])), 0.0)
    return np.asarray(
        theta + size * np.linalg.lstsq(matrix * size, beta - matrix @ theta, rcond=None)[0],
        dtype=np.float64,
    )


def _centred(
    barrier: Consistent, matrix: Array, theta: Array, moves: NDArray[np.bool_], tolerance: float
) -> Array:
    """The point of least barrier with the base parameters of theta, to a Newton decrement."""
    for _ in range(_MAX_STEPS):
        step, decrement = _newton(barrier, matrix, theta, np.zeros(matrix.shape[0]), moves)
        if decrement < tolerance:
            break
        current, fraction = (
            barrier.value(theta),
            min(1.0, _BOUNDARY_FRACTION * barrier.reach(theta, step)),
        )
        while (
            fraction > 1e-9
            and not barrier.value(theta + fraction * step) <= current - 1e-4 * fraction * decrement
        ):
            fraction *= 0.5
        if fraction <= 1e-9:
            break
        theta = theta + fraction * step
    return theta


def _newton(
    barrier: Consistent, matrix: Array, theta: Array, residual: Array, moves: NDArray[np.bool_]
) -> tuple[Array, float]:
    """The step (p,) to the least of the quadratic model of the barrier with matrix @ step =
    residual, and its decrement.
    """
    gradient, hessian = barrier.slopes(theta)
    gradient, hessian = gradient[moves], hessian[np.ix_(moves, moves)]
    size = 1.0 / np.sqrt(np.diag(hessian))
    L = linalg.cholesky(
        hessian * np.outer(size, size) + 1e-14 * np.eye(size.size), lower=True, check_finite=False
    )
    c = linalg.solve_triangular(L, size * gradient, lower=True, check_finite=False)
    A = linalg.solve_triangular(L, (matrix[:, moves] * size).T, lower=True, check_finite=False).T
    u = -c + linalg.lstsq(A, residual + A @ c, cond=1e-14, check_finite=False)[0]
    step = np.zeros(theta.size)
    step[moves] = size * linalg.solve_triangular(L, u, lower=True, trans=1, check_finite=False)
    return step, float(u @ u)
