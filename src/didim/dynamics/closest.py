"""The point of a model's physically consistent set that is closest to its prior and has given base
parameters.

    minimise  barrier(theta)  subject to  matrix theta = beta

Newton's method first walks along a straight line of base parameters to beta, from a machine of
round links in the middle of the set, staying near the least barrier of that on the way. The set is
convex: if beta can be a machine's, so can everything on that line, and the walk arrives. From there
the least barrier around the prior itself is looked for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.consistent import Consistent

Array = NDArray[np.float64]

_STEPS = 200
_SHARE = 0.7
"""Of the way to the boundary that one step may go."""

_STALLED = 1e-8
"""Share of a step below which the walk does not get on: beta is no machine's."""

_NEARLY, _SMALL = 0.1, 1e-18
"""Newton decrement at which the barrier is small enough to walk on, and at which it is least."""


def least_barrier(
    around: Consistent, middle: Consistent, matrix: Array, beta: Array, moves: NDArray[np.bool_]
) -> Array | None:
    """theta (p,) with matrix @ theta = beta, equal to the prior where it may not move; None where
    no machine has beta.

    `middle` is the barrier around a machine of round links that agrees with the prior where it may
    not move.
    """
    try:
        return _walked(around, middle, matrix, beta, moves)
    except linalg.LinAlgError:  # so near to the boundary that rounding decides
        return None


def _walked(
    around: Consistent, middle: Consistent, matrix: Array, beta: Array, moves: NDArray[np.bool_]
) -> Array | None:
    theta = middle.prior.copy()
    scale = np.linalg.norm(beta) + np.linalg.norm(matrix @ theta)
    for _ in range(_STEPS):
        rest = beta - matrix @ theta
        if np.linalg.norm(rest) <= 1e-14 * scale:
            break
        step, _ = _newton(middle, matrix, theta, rest, moves)
        share = min(1.0, _SHARE * middle.reach(theta, step))
        if share < _STALLED:
            return None
        theta = _centred(middle, matrix, theta + share * step, moves, _NEARLY)
    for found in (_centred(around, matrix, theta, moves, _SMALL), theta):
        met = _exactly(around, matrix, beta, found, moves)
        if around.contains(met) and np.linalg.norm(matrix @ met - beta) <= 1e-12 * scale:
            return met
    return None


def _exactly(
    around: Consistent, matrix: Array, beta: Array, theta: Array, moves: NDArray[np.bool_]
) -> Array:
    """theta with what rounding left of the way to beta made up, in units of the barrier."""
    size = np.where(moves, 1.0 / np.sqrt(np.diag(around.slopes(theta)[1])), 0.0)
    return np.asarray(
        theta + size * np.linalg.lstsq(matrix * size, beta - matrix @ theta, rcond=None)[0],
        dtype=np.float64,
    )


def _centred(
    around: Consistent, matrix: Array, theta: Array, moves: NDArray[np.bool_], small: float
) -> Array:
    """The point of least barrier with the base parameters of theta, to a Newton decrement."""
    for _ in range(_STEPS):
        step, decrement = _newton(around, matrix, theta, np.zeros(matrix.shape[0]), moves)
        if decrement < small:
            break
        now, share = around.value(theta), min(1.0, _SHARE * around.reach(theta, step))
        while (
            share > 1e-9
            and not around.value(theta + share * step) <= now - 1e-4 * share * decrement
        ):
            share *= 0.5
        if share <= 1e-9:
            break
        theta = theta + share * step
    return theta


def _newton(
    around: Consistent, matrix: Array, theta: Array, rest: Array, moves: NDArray[np.bool_]
) -> tuple[Array, float]:
    """The step (p,) to the least of the quadratic model of the barrier with matrix @ step = rest,
    and its decrement.
    """
    gradient, hessian = around.slopes(theta)
    gradient, hessian = gradient[moves], hessian[np.ix_(moves, moves)]
    size = 1.0 / np.sqrt(np.diag(hessian))
    L = linalg.cholesky(
        hessian * np.outer(size, size) + 1e-14 * np.eye(size.size), lower=True, check_finite=False
    )
    c = linalg.solve_triangular(L, size * gradient, lower=True, check_finite=False)
    A = linalg.solve_triangular(L, (matrix[:, moves] * size).T, lower=True, check_finite=False).T
    u = -c + linalg.lstsq(A, rest + A @ c, cond=1e-14, check_finite=False)[0]
    step = np.zeros(theta.size)
    step[moves] = size * linalg.solve_triangular(L, u, lower=True, trans=1, check_finite=False)
    return step, float(u @ u)
