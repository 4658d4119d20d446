"""How far an estimate can be believed: (16)-(19), and the covariance corrected for the colour of
the residuals.

(16) takes the errors of successive rows for independent. They are not: the decimation filter leaves
noise in 0.8 of the new band only, and errors of the model last longer than a sample. The corrected
covariance is P (sum over joints of W' R W) P with P = (W' W)^-1 and R the autocovariance of that
joint's error: that of filtered white noise where the residuals look like it, else the one estimated
from the residuals. For DIDIM, whose W takes the motion for given, P is (W' J)^-1 with the exact J.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

_TESTED = 12
"""Lags at which residuals are compared with filtered white noise."""

_CONFIDENCE = 0.999
"""Of that test."""

_BLIND = 1e10
"""Condition number of W+ J beyond which it is not used."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Of one estimate."""

    covariance: Array
    """(b, b) as printed, (18); infinite variance where a parameter is not identified."""
    corrected: Array
    """(b, b) for the colour of the residuals."""
    condition: float
    """Of W, unweighted."""
    scaled_condition: float
    """Of W with columns of equal length: free of units."""
    coloured: tuple[int, ...]
    """Joints whose residuals are not filtered white noise."""
    rows: int
    freedom: int
    """r - b of (17), with the rank for b."""


def statistics(
    system: LinearSystem,
    solution: Solution,
    parameters: Array | None = None,
    jacobian: Array | None = None,
) -> Statistics:
    """Statistics of `parameters` (default: the solution's own) on the system that they were found
    with.

    `jacobian` (r, b) is how the outputs really change with the parameters, where that is not W: a
    fixed point W' rho = 0 has the covariance (W' J)^-1 W' R W (J' W)^-1.

    Implements (16)-(18).
    """
    given, full = system.affine, solution.confounded
    parameters = solution.values if parameters is None else parameters
    if given is not None:
        system, solution, parameters = system.free, solution.of(given.kept), parameters[given.kept]
        jacobian = None if jacobian is None else jacobian @ given.basis
    rho = solution.influence * solution.weights * system.residual(parameters)
    freedom = max(rho.size - solution.rank, 1)
    variance = float(rho @ rho) / freedom
    middle, coloured = score_covariance(system, solution, rho)
    gain = solution.inverse if jacobian is None else _gain(system, solution, jacobian)
    printed, corrected = variance * solution.inverse, gain @ middle @ gain.T
    if given is not None:
        printed, corrected = (given.basis @ each @ given.basis.T for each in (printed, corrected))
    hidden = np.diag(np.where(full, np.inf, 0.0))
    return Statistics(
        printed + hidden,
        corrected + hidden,
        *conditions(system.W),
        coloured,
        rho.size,
        freedom,
    )


def _gain(system: LinearSystem, solution: Solution, jacobian: Array) -> Array:
    """(W' J)^-1 (b, b), in the directions that W sees; that of W itself where J says nothing."""
    scale = np.sqrt(np.diag(solution.inverse))
    scale = np.where(scale > 0, scale, 1.0)
    inverse = solution.inverse / np.outer(scale, scale)  # free of units
    weights = solution.weights[:, None]
    step = inverse @ ((system.W * weights * scale).T @ (jacobian * weights * scale))
    full = step + np.eye(step.shape[0]) - inverse @ np.linalg.pinv(inverse, hermitian=True)
    if not np.linalg.cond(full) < _BLIND:
        return solution.inverse
    return np.asarray(np.linalg.solve(full, inverse) * np.outer(scale, scale))


def conditions(W: Array) -> tuple[float, float]:
    """Condition number of W as it is, and with columns of equal length."""
    norms = np.linalg.norm(W, axis=0)
    return _condition(W), _condition(W / np.where(norms > 0, norms, 1.0))


def _condition(W: Array) -> float:
    singular = np.linalg.svd(W, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")


def score_covariance(
    system: LinearSystem, solution: Solution, rho: Array, columns: Array | None = None
) -> tuple[Array, tuple[int, ...]]:
    """Sum over joints and experiments of X' R X (k, k), and the joints whose R was estimated.

    X is `columns` (r, k), default: W, its rows weighted; `rho` (r,) the weighted residual.
    """
    weighted = system.W * solution.weights[:, None]
    columns = weighted if columns is None else columns
    total, coloured = np.zeros((columns.shape[1],) * 2), []
    for j in np.unique(system.joint):
        pieces = _pieces(system, j, weighted, rho)
        leverage = sum(float(np.sum((W @ solution.inverse) * W)) for W, _, _ in pieces)
        count = sum(int(used.sum()) for _, _, used in pieces)
        variance = sum(float(e @ e) for _, e, _ in pieces) / max(count - leverage, 1.0)
        shape, is_coloured = _correlation(system, pieces, count)
        if is_coloured:
            coloured.append(int(j))
        own = pieces if columns is weighted else _pieces(system, j, columns, rho)
        for X, _, _ in own:
            total += variance * _toeplitz(X, shape)
    return total, tuple(coloured)


def _pieces(
    system: LinearSystem, j: int, weighted: Array, rho: Array
) -> list[tuple[Array, Array, NDArray[np.bool_]]]:
    """W, residual and used rows of joint j, experiment by experiment, with zeros where rows at rest
    were left out.
    """
    pieces = []
    for series in np.unique(system.series):
        rows = np.flatnonzero((system.joint == j) & (system.series == series))
        if not rows.size:
            continue
        index = system.index[rows] - system.index[rows].min()
        W, e, used = (
            np.zeros((index.max() + 1, weighted.shape[1])),
            np.zeros(index.max() + 1),
            np.zeros(index.max() + 1, bool),
        )
        W[index], e[index], used[index] = weighted[rows], rho[rows], True
        pieces.append((W, e, used))
    return pieces


def _correlation(
    system: LinearSystem, pieces: list[tuple[Array, Array, NDArray[np.bool_]]], count: int
) -> tuple[Array, bool]:
    """Autocorrelation (L,) of a joint's errors, and whether it had to be estimated."""
    white = system.correlation
    lags = min(max(_TESTED + 1, int(4 * count ** (1 / 3))), max(len(e) for _, e, _ in pieces) - 1)
    if lags < 2:
        return white, False
    seen, pairs = np.zeros(lags + 1), np.zeros(lags + 1)
    for _, e, used in pieces:
        for lag in range(min(lags, len(e) - 1) + 1):
            seen[lag] += e[: len(e) - lag] @ e[lag:]
            pairs[lag] += np.sum(used[: len(e) - lag] & used[lag:])
    if seen[0] <= 0:
        return white, False
    found = (seen / np.maximum(pairs, 1.0)) / (seen[0] / pairs[0])
    expected = np.pad(white, (0, max(0, lags + 1 - white.size)))[: lags + 1]
    spread = np.sqrt((1 + 2 * np.sum(expected[1:] ** 2)) / np.maximum(pairs, 1.0))
    tested = slice(1, min(_TESTED, lags) + 1)
    score = float(np.sum(((found - expected)[tested] / spread[tested]) ** 2))
    if score < stats.chi2.ppf(_CONFIDENCE, len(found[tested])):
        return white, False
    position = np.arange(lags + 1) / (lags + 1)
    parzen = np.where(
        position < 0.5, 1 - 6 * position**2 + 6 * position**3, 2 * (1 - position) ** 3
    )
    return np.asarray(found * parzen), True


def _toeplitz(W: Array, correlation: Array) -> Array:
    """W' R W (b, b) for the Toeplitz matrix R of a correlation (L,)."""
    total = correlation[0] * (W.T @ W)
    for lag in range(1, min(correlation.size, W.shape[0])):
        cross = W[:-lag].T @ W[lag:]
        total = total + correlation[lag] * (cross + cross.T)
    return np.asarray(total)


def convergence_rate(solution: Solution, system: LinearSystem, jacobian: Array) -> float:
    """Spectral radius of I - W+ J, J (r, b) the exact Jacobian: the factor by which a step of DIDIM
    multiplies an error.

    DIDIM steps by W+ rho, where rho changes by -J for an error; below 1 its steps shrink.
    """
    if (known := system.affine) is not None:
        solution, system, jacobian = solution.of(known.kept), system.free, jacobian @ known.basis
    weights = solution.row_weights[:, None]
    step = solution.inverse @ ((system.W * weights).T @ (jacobian * weights))
    return float(np.abs(np.linalg.eigvals(np.eye(step.shape[0]) - step)).max())
