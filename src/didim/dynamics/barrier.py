"""Least squares inside the physically consistent set: a convex problem, solved by Newton's method
with a line search.

    minimise  1/2 |R (matrix theta, z) - target|^2 + mu barrier(theta) + 1/2 |(z - z0) / s|^2

over the standard parameters theta and further unknowns z (logarithms of gains, a delay). In a
Gauss-Newton step R and the target are the QR-compressed, weighted Jacobian and what it should
reach; no semidefinite solver is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.consistent import Consistent

Array = NDArray[np.float64]

MU = 0.1
"""Weight of the barrier, where a row's error counts in its standard deviations."""

_ROUNDS = 100
_REACH = 0.9
"""Of the way to the boundary of the set that one step may go."""

_SMALL = 1e-10
"""Newton decrement at which the problem is solved."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The set, the step's least squares, and the pull on the further unknowns."""

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
    mu: float = MU

    def value(self, theta: Array, z: Array) -> float:
        """What is minimised."""
        rest = self.R @ np.concatenate([self.matrix @ theta, z]) - self.target
        pull = (z - self.centre) / self.spread
        return (
            0.5 * float(rest @ rest)
            + self.mu * self.consistent.value(theta)
            + 0.5 * float(pull @ pull)
        )

    def solve(
        self, theta: Array, z: Array, held: NDArray[np.bool_] | None = None
    ) -> tuple[Array, Array]:
        """The minimum, from a point inside the set; z stays where it is `held`."""
        p, b = theta.size, self.matrix.shape[0]
        R = np.hstack([self.R[:, :b] @ self.matrix, self.R[:, b:]])
        moves = np.concatenate(
            [np.ones(p, dtype=bool), np.ones(z.size, dtype=bool) if held is None else ~held]
        )
        x = np.concatenate([theta, z])
        normal, now = R.T @ R, self.value(theta, z)
        for _ in range(_ROUNDS):
            gradient, hessian = self._slopes(R, normal, x, p)
            step = np.zeros(x.size)
            step[moves] = _newton(hessian[np.ix_(moves, moves)], gradient[moves])
            decrement = -float(gradient @ step)
            if decrement < _SMALL:
                break
            share = min(1.0, _REACH * self.consistent.reach(x[:p], step[:p]))
            while share > 1e-12:
                trial = x + share * step
                found = self.value(trial[:p], trial[p:])
                if found <= now - 1e-4 * share * decrement:
                    break
                share *= 0.5
            else:
                break
            x, now = trial, found
        return x[:p], x[p:]

    def _slopes(self, R: Array, normal: Array, x: Array, p: int) -> tuple[Array, Array]:
        slope, bend = self.consistent.slopes(x[:p])
        gradient, hessian = R.T @ (R @ x - self.target), normal.copy()
        gradient[:p] += self.mu * slope
        hessian[:p, :p] += self.mu * bend
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
    return np.asarray(-scale * linalg.cho_solve(factor, scale * gradient, check_finite=False))
