"""Least squares inside the physically consistent set: a convex problem, solved by Newton's method
with a line search.

    minimise  1/2 |R (matrix theta, z) - target|^2 + mu barrier(theta) + 1/2 |(z - z0) / s|^2

over the standard parameters theta and further unknowns z (logarithms of gains, a delay). In a
Gauss-Newton step R and the target are the QR-compressed, weighted Jacobian and its right-hand
side; no semidefinite solver is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.consistent import Consistent

Array = NDArray[np.float64]

BARRIER_WEIGHT = 0.1
"""mu, where a row's error counts in its standard deviations."""

_MAX_ITERATIONS = 100
_BOUNDARY_FRACTION = 0.9
"""Fraction of the distance to the boundary of the set that one step may go."""

_DECREMENT_TOLERANCE = 1e-10
"""Newton decrement at which the problem is solved."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The set, the least-squares problem of the step, and the prior on the further unknowns."""

    consistent: Consistent
    matrix: Array
    """(b, p): beta = matrix theta."""
    R: Array
    """(k, b + e)."""
    target: Array
    """(k,)."""
    centre: Array
    """(e,) z0."""
    spread: Array
    """(e,) s."""
    mu: float = BARRIER_WEIGHT

    def value(self, theta: Array, z: Array) -> float:
        """What is minimised."""
        residual = self.R @ np.concatenate([self.matrix @ theta, z]) - self.target
        prior = (z - self.centre) / self.spread
        return (
            0.5 * float(residual @ residual)
            + self.mu * self.consistent.value(theta)
            + 0.5 * float(prior @ prior)
        )

    def solve(
        self, theta: Array, z: Array, held: NDArray[np.bool_] | None = None
    ) -> tuple[Array, Array]:
        """The minimum, from a point inside the set with the known values; z stays where it is
        `held`.
        """
        p, b, T = theta.size, self.matrix.shape[0], self.consistent.directions
        R = np.hstack([self.R[:, :b] @ self.matrix, self.R[:, b:]])
        further = np.ones(z.size, dtype=bool) if held is None else ~held
        moves = np.concatenate([np.ones(p if T is None else T.shape[1], dtype=bool), further])
        reduce = None if T is None else linalg.block_diag(T, np.eye(z.size))
        x = np.concatenate([theta, z])
        normal, current = R.T @ R, self.value(theta, z)
        for _ in range(_MAX_ITERATIONS):
            gradient, hessian = self._slopes(R, normal, x, p)
            if reduce is not None:
                gradient, hessian = reduce.T @ gradient, reduce.T @ hessian @ reduce
            step = np.zeros(moves.size)
            step[moves] = _newton(hessian[np.ix_(moves, moves)], gradient[moves])
            decrement = -float(gradient @ step)
            step = step if reduce is None else reduce @ step
            if decrement < _DECREMENT_TOLERANCE:
                break
            fraction = min(1.0, _BOUNDARY_FRACTION * self.consistent.reach(x[:p], step[:p]))
            while fraction > 1e-12:
                trial = x + fraction * step
                found = self.value(trial[:p], trial[p:])
                if found <= current - 1e-4 * fraction * decrement:
                    break
                fraction *= 0.5
            else:
                break
            x, current = trial, found
        return x[:p], x[p:]

    def _slopes(self, R: Array, normal: Array, x: Array, p: int) -> tuple[Array, Array]:
        slope, curvature = self.consistent.slopes(x[:p])
        gradient, hessian = R.T @ (R @ x - self.target), normal.copy()
        gradient[:p] += self.mu * slope
        hessian[:p, :p] += self.mu * curvature
        gradient[p:] += (x[p:] - self.centre) / self.spread**2
        hessian[p:, p:] += np.diag(1.0 / self.spread**2)
        return gradient, hessian


def _newton(hessian: Array, gradient: Array) -> Array:
    """Minus the Newton step's solution, with columns scaled to equal length."""
    scale = 1.0 / np.sqrt(np.diag(hessian))
    scaled = hessian * np.outer(scale, scale)
    try:
        factor = linalg.cho_factor(scaled, check_finite=False)
    except linalg.LinAlgError:
        factor = linalg.cho_factor(scaled + 1e-10 * np.eye(scale.size), check_finite=False)
    return -scale * linalg.cho_solve(factor, scale * gradient, check_finite=False)
