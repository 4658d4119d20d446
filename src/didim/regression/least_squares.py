"""Rank-revealing least squares: OLS by QR (15), WLS with one weight per joint (20), a robust IRLS,
and the same with friction bounded by zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.errors import InputError, nearest
from didim.regression.huber import huber_factors, robust_deviation
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

WEIGHTS = ("ols", "wls", "irls")

RANK = 1e-8
"""A column that the others reproduce to this fraction of its length counts as dependent."""

MIN_DEGREES_OF_FREEDOM = 10
"""Degrees of freedom that a joint needs to judge its own error."""

_NULL = 1e-6
"""Fraction of a parameter in the null space of W beyond which it is not identified."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A least squares solution; finite always, of least length (in scaled columns) in directions
    that W does not see.
    """

    values: Array
    """(b,)."""
    weights: Array
    """(r,) one over the standard deviation of each row's error, as far as it is known
    beforehand.
    """
    inverse: Array
    """(b, b) pseudo-inverse of W' W with the rows multiplied by `weights`."""
    rank: int
    confounded: NDArray[np.bool_]
    """(b,) parameters that W does not identify."""
    robust: Array | None = None
    """(r,) by which outlying rows were further multiplied, between 0 and 1; None: none were."""

    def of(self, columns: NDArray[np.int64]) -> Solution:
        """The solution of some of the parameters."""
        values, hidden = self.values[columns], self.confounded[columns]
        inverse = self.inverse[np.ix_(columns, columns)]
        return replace(self, values=values, inverse=inverse, confounded=hidden)

    @property
    def row_weights(self) -> Array:
        """(r,) by which the rows were multiplied in all."""
        return self.weights if self.robust is None else self.weights * self.robust

    @property
    def influence(self) -> Array | float:
        """psi over the weighted residual, in Huber's covariance E[psi^2] / E[psi']^2 (W' W)^-1: 1
        without robust weights.
        """
        return (
            1.0
            if self.robust is None
            else self.robust**2 / max(float(np.mean(self.robust > 1 - 1e-9)), 0.1)
        )


@dataclass(frozen=True, eq=False)
class Factors:
    """W = Q R with scaled columns, and R = u s v': of W's size there is Q alone, which is what long
    records have room for.
    """

    Q: Array
    left: Array
    """(b, k) u."""
    singular: Array
    right: Array
    scale: Array
    rank: int

    def coordinates(self, y: Array) -> Array:
        """(rank, ...) of y (r, ...) along the left singular vectors of W."""
        return np.asarray(self.left[:, : self.rank].T @ (self.Q.T @ y))

    def explained(self, y: Array) -> Array:
        """(r, ...) the part of y (r, ...) that W can explain."""
        return np.asarray(self.Q @ (self.left[:, : self.rank] @ self.coordinates(y)))


def factored(W: Array, weights: Array | None = None) -> Factors:
    """The factors of W (r, b), its rows multiplied by `weights` (r,), with its rank."""
    scaled = np.empty(W.shape, order="F")  # LAPACK's order: no copy
    np.multiply(W, 1.0 if weights is None else weights[:, None], out=scaled)
    scale = np.linalg.norm(scaled, axis=0)
    scale[scale <= 1e-13 * scale.max(initial=0.0)] = 0.0
    safe = np.where(scale > 0, scale, 1.0)
    scaled *= np.where(scale > 0, 1.0 / safe, 0.0)
    Q, R = linalg.qr(scaled, mode="economic", overwrite_a=True, check_finite=False)
    u, s, vt = linalg.svd(R, check_finite=False)
    rank = int(np.sum(s > RANK * s[0])) if s.size and s[0] > 0 else 0
    return Factors(Q, u[:, : s.size], s, vt, safe, rank)


def least_squares(system: LinearSystem, weights: Array) -> Solution:
    """chi = W+ Y (15) with rows multiplied by `weights` (r,), in the parameters that known values
    leave.

    Implements (15).
    """
    free, known = system.free, system.affine
    y, f = free.y * weights, factored(free.W, weights)
    r = f.rank
    basis = (f.right[:r] / f.singular[:r, None]) / f.scale
    values = basis.T @ f.coordinates(y)
    if known is None:
        hidden = np.linalg.norm(f.right[r:], axis=0) > _NULL
        return Solution(values, weights, basis.T @ basis, r, hidden)
    scaled, basis = known.basis / f.scale, basis @ known.basis.T
    blind = np.linalg.norm(scaled @ f.right[r:].T, axis=1)
    hidden = blind > _NULL * np.linalg.norm(scaled, axis=1)
    return Solution(known.at(values), weights, basis.T @ basis, r, hidden)


def joint_deviations(system: LinearSystem) -> Array:
    """(n,) standard deviation of each joint's error, from least squares on its own equations (20).

    One joint sees only some of the columns: the rank of its equations counts, not b. A joint with
    hardly more equations than that, or without a torque, takes its residual from ordinary least
    squares on all of them.

    Implements (20).
    """
    system = system.free
    deviation, common = np.zeros(system.n), None
    for j in np.unique(system.joint):
        rows = system.joint == j
        W, y = system.W[rows], system.y[rows]
        f = factored(W)
        rest = y - f.explained(y)
        alone = y.size - f.rank < MIN_DEGREES_OF_FREEDOM or not y.any()
        if alone:  # it would fit itself, a passive joint with zeros: use all joints
            if common is None:
                common = system.residual(least_squares(system, np.ones(system.y.size)).values)
            deviation[j] = np.linalg.norm(common[rows]) / np.sqrt(y.size)
        else:
            deviation[j] = np.linalg.norm(rest) / np.sqrt(y.size - f.rank)
    return deviation


def joint_weights(system: LinearSystem, deviation: Array | None = None) -> Array:
    """(r,) 1 over the standard deviation of each row's joint, (n,) as given or by (20), floored far
    below the torque itself.
    """
    deviation = joint_deviations(system) if deviation is None else deviation
    torques = [system.y[system.joint == j] for j in range(system.n)]
    size = np.array([np.linalg.norm(y) / np.sqrt(max(y.size, 1)) for y in torques])
    floor = 1e-9 * np.where(size > 0, size, max(size.max(), 1e-300))
    return np.asarray(1.0 / np.maximum(deviation, floor))[system.joint]


def fit(system: LinearSystem, weights: str) -> Solution:
    """Solve with the weights of the given name: "ols" (15), "wls" (20), or "irls", WLS that trusts
    outlying rows less.
    """
    check_weights(weights)
    refuse_few(system)
    if weights == "ols":
        return least_squares(system, np.ones(system.y.size))
    base = joint_weights(system)
    solution = least_squares(system, base)
    return solution if weights == "wls" else _robust(system, base, solution)


def refuse_few(system: LinearSystem) -> None:
    """Refuse a system with hardly more equations than parameters."""
    if system.y.size <= (count := len(system.free_names)):
        raise InputError(
            f"The record is too short: {system.y.size} equations remain for {count} "
            "parameters. Record longer, decimate less, or cut less."
        )


def check_weights(weights: object) -> None:
    """Refuse an unknown name."""
    if not isinstance(weights, str) or weights not in WEIGHTS:
        raise InputError(f"Unknown weights {weights!r}; {nearest(str(weights), WEIGHTS)}")


def _robust(system: LinearSystem, base: Array, first: Solution) -> Solution:
    """Iteratively reweighted least squares with Huber's weight; the scale of each joint is its
    median absolute residual.
    """
    solution = first
    for _ in range(50):
        before = solution.values
        rho = base * system.residual(before)
        size = np.zeros(system.n)
        for j in np.unique(system.joint):
            size[j] = robust_deviation(rho[system.joint == j])
        far = np.abs(rho) / np.maximum(size[system.joint], 1e-12)
        solution = least_squares(system, base * huber_factors(far))
        if np.all(
            np.abs(solution.values - before)
            <= 1e-8 * np.maximum(np.abs(before), np.abs(before).max() * 1e-6)
        ):
            break
    return Solution(
        solution.values, base, first.inverse, first.rank, first.confounded, solution.weights / base
    )


def with_positive_friction(
    frictional: NDArray[np.bool_], system: LinearSystem, solution: Solution
) -> tuple[Array, tuple[str, ...]]:
    """The solution's values, or those of the same problem with friction, `frictional` (b,), bounded
    by zero; and the names of the parameters at that bound.
    """
    if not np.any(solution.values[frictional] < 0):
        return solution.values, ()
    from scipy.optimize import lsq_linear  # slow to import

    if (known := system.affine) is not None:
        kept = known.kept
        values, held_names = with_positive_friction(
            frictional[kept], system.free, solution.of(kept)
        )
        return known.at(values), held_names
    W = system.W * solution.row_weights[:, None]
    scale = np.linalg.norm(W, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    Q, R = linalg.qr(W / scale, mode="economic", check_finite=False)
    lower = np.where(frictional, 0.0, -np.inf)
    z = Q.T @ (system.y * solution.row_weights)
    if solution.rank < R.shape[1]:  # what W does not see stays where least squares left it
        singular, right = linalg.svd(R, check_finite=False)[1:]
        blind = singular[0] * right[solution.rank :]
        R, z = np.vstack([R, blind]), np.concatenate([z, blind @ (scale * solution.values)])
    found = lsq_linear(R, z, bounds=(lower, np.inf), method="bvls", lsq_solver="exact")
    values = np.where(frictional, np.maximum(found.x, 0.0), found.x) / scale
    held = frictional & (values <= 1e-12 * np.abs(solution.values).max())
    names = tuple(name for name, is_held in zip(system.names, held, strict=True) if is_held)
    return np.where(held, 0.0, values), names
