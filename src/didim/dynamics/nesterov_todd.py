"""One step of the interior-point method in Nesterov and Todd's coordinates.

F with F^-1 P F^-T = F' Z F = diag(lam) makes pseudo-inertia and multiplier the same diagonal
matrix, w with x / w = w z = lam_x does so for positive numbers. With X the scaled change of P, and
XZ that of Z, the linearised equations P Z = mu 1 are X + XZ = mu diag(1 / lam) - diag(lam), and the
step is the least squares problem

    minimise over v  1/2 |R D v + rest|^2 + c' D v + 1/2 |K v - force|^2,    u += D v,

in which nearly singular pseudo-inertias make small columns, not large numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.cone_program import Point
from didim.dynamics.consistent import BASIS

Array = NDArray[np.float64]

_FLAT: Array = BASIS.reshape(10, 16)
"""(10, 16): the pseudo-inertia of a link from its ten parameters."""

_FROM_MATRIX: Array = np.asarray(np.linalg.pinv(_FLAT), dtype=np.float64).T.copy()
"""(10, 16): the ten parameters of a link from its pseudo-inertia."""

_SYMMETRIC: Array = np.array(
    [
        (np.outer(a, b) + np.outer(b, a)) / (2.0 if i == j else np.sqrt(2.0))
        for i, a in enumerate(np.eye(4))
        for j, b in enumerate(np.eye(4))
        if i <= j
    ]
)
"""(10, 4, 4) orthonormal basis of the symmetric matrices."""

_COORDINATES: Array = _SYMMETRIC.reshape(10, 16)


def _turned(A: Array) -> Array:
    return np.swapaxes(A, 1, 2)


@dataclass(frozen=True, eq=False)
class Step:
    """A change of u (m,), and the scaled changes of pseudo-inertias X (n, 4, 4), of positive
    numbers x (k,) and of their multipliers.
    """

    u: Array
    X: Array
    XZ: Array
    x: Array
    xz: Array


class Scaling:
    """The coordinates of the steps from one point; raises LinAlgError where rounding has made a
    pseudo-inertia or multiplier indefinite.
    """

    def __init__(self, point: Point) -> None:
        self.point = point
        L: Array = np.asarray(np.linalg.cholesky(point.bodies), dtype=np.float64)
        M: Array = np.asarray(np.linalg.cholesky(point.Z), dtype=np.float64)
        U, self.lam, V = (np.asarray(each) for each in np.linalg.svd(_turned(M) @ L))
        root = np.sqrt(self.lam)
        self.F = L @ _turned(V) / root[:, None, :]
        self.inverse = _turned(U) @ _turned(M) / root[:, :, None]
        self.w, self.lam_x = np.sqrt(point.x / point.z), np.sqrt(point.x * point.z)
        consistent = point.region.consistent
        self.softness = consistent.scale[consistent.free] / np.sqrt(point.pull)
        self.D = self._directions() if point.region.directions is None else None

    def _directions(self) -> Array:
        """D (p, p), for which K is the identity."""
        consistent, p = self.point.region.consistent, self.point.theta.size
        at, free, D = consistent.positive, consistent.free, np.zeros((p, p))
        moved = np.einsum("iab,kbc,idc->ikad", self.F, _SYMMETRIC, self.F)
        for i, columns in enumerate(consistent.links):
            D[np.ix_(columns, columns)] = _FROM_MATRIX @ moved[i].reshape(10, 16).T
        D[at, at], D[free, free] = self.w, self.softness
        return D

    def _metric(self) -> Array:
        """K (p + bounded, m), where D is the identity."""
        region = self.point.region
        consistent, p = region.consistent, self.point.theta.size
        at, free, K = consistent.positive, consistent.free, np.zeros((p, p))
        seen = np.einsum("iab,kbc,idc->ikad", self.inverse, BASIS, self.inverse)
        for i, columns in enumerate(consistent.links):
            K[np.ix_(columns, columns)] = _COORDINATES @ seen[i].reshape(10, 16).T
        K[at, at], K[free, free] = 1.0 / self.w[: at.size], 1.0 / self.softness
        rows = np.zeros((region.bounded.size, self.point.u.size))
        rows[np.arange(region.bounded.size), region.bounded] = 1.0 / self.w[at.size :]
        return np.vstack([K @ region.move(np.eye(self.point.u.size)), rows])

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """QR of R D above K."""
        R = self.point.cost.R
        both = [R, self._metric()] if self.D is None else [R @ self.D, np.eye(len(self.D))]
        Q, triangle = linalg.qr(np.vstack(both), mode="economic", check_finite=False)
        return Q, triangle

    def step(self, mu: float, before: Step | None = None) -> Step:
        """Towards the point of the path with mu; `before` is the step to mu = 0, whose second-order
        effect is corrected.
        """
        one = np.eye(4)
        matrix = mu * one - self.lam[:, :, None] ** 2 * one
        single = mu - self.lam_x**2
        if before is not None:
            product = before.X @ before.XZ
            matrix = matrix - 0.5 * (product + _turned(product))
            single = single - before.x * before.xz
        total = 2.0 * matrix / (self.lam[:, :, None] + self.lam[:, None, :])
        total_x = single / self.lam_x
        u = self._solved(total + self.lam[:, :, None] * one, total_x + self.lam_x)
        region = self.point.region
        move = region.move(u)
        X = self.inverse @ region.consistent.bodies(move) @ _turned(self.inverse)
        x = region.single(move, u) / self.w
        return Step(u, X, total - X, x, total_x - x)

    def _solved(self, wanted: Array, wanted_x: Array) -> Array:
        """The step u (m,) for the scaled P and Z (n, 4, 4), x and z (k,) that the equations of the
        path want as the sum of both changes and the multiplier.
        """
        point, cost, consistent = self.point, self.point.cost, self.point.region.consistent
        at, free = consistent.positive, consistent.free
        wanted = wanted - point.pull * _turned(self.F) @ consistent.inverse @ self.F
        wanted_x[: at.size] -= point.pull * self.w[: at.size] / consistent.prior[at]
        force = np.zeros(point.theta.size)
        for i, columns in enumerate(consistent.links):
            force[columns] = _COORDINATES @ wanted[i].ravel()
        force[at], force[free] = wanted_x[: at.size], -point.theta[free] / self.softness
        rest = np.concatenate([cost.R @ point.u - cost.target, -force, -wanted_x[at.size :]])
        linear = cost.linear if self.D is None else self.D.T @ cost.linear
        Q, triangle = self._factors
        pull = Q.T @ rest + linalg.solve_triangular(triangle, linear, trans=1, check_finite=False)
        v = -linalg.solve_triangular(triangle, pull, check_finite=False)
        return np.asarray(v if self.D is None else self.D @ v, dtype=np.float64)

    def reach(self, step: Step) -> float:
        """The fraction of a step at which it, or its multipliers, meet the boundary."""
        root = np.sqrt(self.lam)
        scale = root[:, :, None] * root[:, None, :]
        least = min(
            float(np.linalg.eigvalsh(step.X / scale).min(initial=0.0)),
            float(np.linalg.eigvalsh(step.XZ / scale).min(initial=0.0)),
            float((step.x / self.lam_x).min(initial=0.0)),
            float((step.xz / self.lam_x).min(initial=0.0)),
        )
        return 1.0 / -least if least < 0 else np.inf

    def moved(self, step: Step, fraction: float) -> Point:
        """The point after a fraction of a step."""
        point = self.point
        change = _turned(self.inverse) @ step.XZ @ self.inverse
        return Point(
            point.cost,
            point.region,
            point.u + fraction * step.u,
            point.Z + 0.5 * fraction * (change + _turned(change)),
            point.z + fraction * step.xz / self.w,
            point.pull,
        )
