"""Instrumental variables, and the revised Durbin-Wu-Hausman test.

The regressor W of measured positions has their noise, which correlates it with the error of
Y = W chi + rho: least squares is biased. Instruments Z (r, b) that are correlated with W but not
with the noise give

    chi = (Z' W)^-1 Z' Y,

here by orthogonal factors: with the rows weighted and Q an orthonormal basis of Z, W_ = Q Q' W is
the part of W that the instruments explain, and chi is the least squares solution of W_ chi = Y.
What these equations leave is rho = Y - W chi, with the measured W. So the system

    W_ chi = Y - (W - W_) chi_IV

has the solution, the residual and, as any least squares problem, the covariance
(Z' W)^-1 Z' R Z (W' Z)^-1 of instrumental variables.

A. Janot, P.-O. Vandanjon and M. Gautier, A generic instrumental variable approach for industrial
robot identification, IEEE Transactions on Control Systems Technology 22 (2014); and A revised
Durbin-Wu-Hausman test for industrial robot identification, Control Engineering Practice 48 (2016).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.regression.least_squares import (
    Solution,
    factored,
    joint_weights,
    least_squares,
    refuse_few,
)
from didim.regression.score import SEEN, Score, score_tests
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

INSTRUMENT_WEIGHTS = ("ols", "wls")

NO_NOISE = 1e-9
"""Part of a column of W beyond the instruments, over its length, that is rounding."""


def explained(system: LinearSystem, Z: Array, weights: Array) -> Array:
    """W_ (r, b): the part of W that instruments Z (r, b) explain, with rows weighted (r,)."""
    if (known := system.affine) is not None:
        Z = Z @ known.basis
    W_ = factored(Z, weights).explained(system.W * weights[:, None])
    return np.asarray(W_ / weights[:, None])


def second_stage(system: LinearSystem, W_: Array, chi: Array) -> LinearSystem:
    """The equations W_ chi = Y - (W - W_) chi, whose residual at chi (b,) is Y - W chi."""
    return replace(system, W=W_, y=system.y - (system.W - W_) @ chi)


def instrument_fit(system: LinearSystem, Z: Array, weights: str) -> tuple[LinearSystem, Solution]:
    """chi = (Z' W)^-1 Z' Y with the weights of the given name, "ols" or "wls", and the equations
    that it is the least squares solution of.

    The weights of "wls" are 1 over the rms that a first solution leaves of each joint: (20) would
    take least squares on W, which its noise biases.
    """
    refuse_few(system)
    if weights == "ols":
        return _solved(system, Z, np.ones(system.y.size))
    _, first = _solved(system, Z, joint_weights(system))
    left = replace(system, y=system.residual(first.values)).sizes
    return _solved(system, Z, joint_weights(system, left))


def _solved(system: LinearSystem, Z: Array, weights: Array) -> tuple[LinearSystem, Solution]:
    W_ = explained(system, Z, weights)
    solution = least_squares(replace(system, W=W_), weights)
    return second_stage(system, W_, solution.values), solution


def exogeneity(system: LinearSystem, Z: Array, weights: Array) -> Score:
    """The revised Durbin-Wu-Hausman test: delta = 0 in Y = W chi + V delta, where V = W - W_ is
    what the instruments Z (r, b) do not explain of W. Where W has no noise that the error knows of,
    V explains nothing.

    Columns of V that others reproduce are left out, by QR with pivoting; the F-test has the
    autocovariance of the residuals, as intervals do.
    """
    free = system.free
    V = free.W - explained(free, Z if system.affine is None else Z @ system.affine.basis, weights)
    rows = weights[:, None]
    length, size = (np.linalg.norm(each * rows, axis=0) for each in (V, free.W))
    kept = np.flatnonzero(length > NO_NOISE * np.maximum(size, 1e-300))
    if not kept.size:
        return score_tests(free, V[:, :0], weights).of([])
    R, order = linalg.qr(
        V[:, kept] * rows / length[kept], mode="r", pivoting=True, check_finite=False
    )
    size = np.abs(np.diag(R))
    chosen = np.sort(kept[order[: size.size][size > SEEN * size[0]]])
    return score_tests(free, V[:, chosen], weights).of(range(chosen.size))


def validity(equations: LinearSystem, further: Array, weights: Array) -> Score:
    """Whether further instruments (r, k) are uncorrelated with what the second stage `equations`
    leave: as many tests as they exceed the parameters (Sargan, Hansen).
    """
    return score_tests(equations, further, weights).of(range(further.shape[1]))
