"""How far an estimate can be believed: (16)-(19), and the covariance corrected for the colour of
the residuals.

(16) takes the errors of successive rows for independent. They are not: the decimation filter leaves
noise in 0.8 of the new band only, and errors of the model last longer than a sample. The corrected
covariance is P (sum over joints of W' R W) P with P = (W' W)^-1 and R the autocovariance of that
joint's error: that of filtered white noise where the residuals look like it, else the one estimated
from the residuals. For DIDIM, whose W takes the motion for given, P is (W' J)^-1 with the exact J.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

Pieces = list[tuple[Array, NDArray[np.bool_]]]
"""Errors of one joint, record by record, zero where rows were left out, and which were used."""

TESTED_LAGS = 12
"""Lags at which residuals are compared with filtered white noise."""

_CONFIDENCE = 0.999
"""Of that test."""

MANY_LAGS = 30
"""Of a correlation, beyond which it is applied by Fourier transforms."""

LEAST_DENSITY = 1e-3
"""Smallest spectral density of a correlation that is estimated, over that of white noise."""

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
    R = linalg.qr(W, mode="r", check_finite=False)[0][: W.shape[1]]  # its singular values are W's
    return _condition(R), _condition(R / np.where(norms > 0, norms, 1.0))


def _condition(R: Array) -> float:
    singular = np.linalg.svd(R, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")


@dataclass(frozen=True, eq=False)
class ErrorColours:
    """R, the autocovariance of the weighted errors: for each joint a variance and a correlation."""

    system: LinearSystem
    variances: dict[int, float]
    shapes: dict[int, Array]
    coloured: tuple[int, ...]
    """Joints whose R was estimated."""

    def less(self, basis: Array) -> ErrorColours:
        """R with the variance that a fit leaves by the columns of an orthonormal `basis` (r, k):
        coloured errors lose q' R q by each column q, where white ones lose q' q.
        """
        variances = {}
        for j, variance in self.variances.items():
            pieces = _pieces(self.system, j, basis)
            rows = sum(int(used.sum()) for _, used in pieces)
            lost = sum(float(np.sum(Q * _coloured(Q, self.shapes[j]))) for Q, _ in pieces)
            white = sum(float(np.sum(Q**2)) for Q, _ in pieces)
            left = max(rows - white, 1.0)
            variances[j] = variance * left / max(rows - lost, left / 2)
        return replace(self, variances=variances)

    def squares(self, columns: Array) -> Array:
        """X' R X (k, k) of columns X (r, k), summed over joints and experiments."""
        total = np.zeros((columns.shape[1],) * 2)
        for j, variance in self.variances.items():
            for X, _ in _pieces(self.system, j, columns):
                total += variance * (X.T @ _coloured(X, self.shapes[j]))
        return total


def error_colours(system: LinearSystem, leverage: Array, rho: Array) -> ErrorColours:
    """R of the weighted residual rho (r,); `leverage` (r,) is the diagonal of W W+."""
    variances, shapes, coloured = {}, {}, []
    for each in np.unique(system.joint):
        j = int(each)
        pieces = joint_errors(system, j, rho)
        count = sum(int(used.sum()) for _, used in pieces)
        squares = sum(float(e @ e) for e, _ in pieces)
        freedom = count - float(leverage[system.joint == j].sum())
        variances[j] = squares / max(freedom, 1.0)
        shapes[j], is_coloured = _correlation(system, pieces, count)
        if is_coloured:
            coloured.append(j)
    return ErrorColours(system, variances, shapes, tuple(coloured))


def score_covariance(
    system: LinearSystem, solution: Solution, rho: Array, columns: Array | None = None
) -> tuple[Array, tuple[int, ...]]:
    """Sum over joints and experiments of X' R X (k, k), and the joints whose R was estimated.

    X is `columns` (r, k), default: W, its rows weighted; `rho` (r,) the weighted residual.
    """
    weighted = system.W * solution.weights[:, None]
    leverage = np.sum((weighted @ solution.inverse) * weighted, axis=1)
    colours = error_colours(system, leverage, rho)
    return colours.squares(weighted if columns is None else columns), colours.coloured


def joint_errors(system: LinearSystem, j: int, rho: Array) -> Pieces:
    """The rows of joint j of errors rho (r,), experiment by experiment."""
    return [(e[:, 0], used) for e, used in _pieces(system, j, rho[:, None])]


def _pieces(system: LinearSystem, j: int, columns: Array) -> list[tuple[Array, NDArray[np.bool_]]]:
    """The rows of joint j of columns (r, k), experiment by experiment, with zeros where rows at
    rest were left out, and which rows were used.
    """
    pieces = []
    for series in np.unique(system.series):
        rows = np.flatnonzero((system.joint == j) & (system.series == series))
        if not rows.size:
            continue
        index = system.index[rows] - system.index[rows].min()
        X, used = np.zeros((index.max() + 1, columns.shape[1])), np.zeros(index.max() + 1, bool)
        X[index], used[index] = columns[rows], True
        pieces.append((X, used))
    return pieces


def autocorrelation(pieces: Pieces, lags: int) -> tuple[Array, Array]:
    """(lags + 1,) of a joint's errors, and the pairs of rows that each lag has."""
    seen, pairs = np.zeros(lags + 1), np.zeros(lags + 1)
    for e, used in pieces:
        for lag in range(min(lags, len(e) - 1) + 1):
            seen[lag] += e[: len(e) - lag] @ e[lag:]
            pairs[lag] += np.sum(used[: len(e) - lag] & used[lag:])
    if seen[0] <= 0:
        return np.zeros(lags + 1), pairs
    return (seen / np.maximum(pairs, 1.0)) / (seen[0] / pairs[0]), pairs


def expected_correlation(system: LinearSystem, lags: int) -> Array:
    """(lags + 1,) that of white noise after the decimation filter."""
    white = system.correlation
    return np.pad(white, (0, max(0, lags + 1 - white.size)))[: lags + 1]


def _correlation(system: LinearSystem, pieces: Pieces, count: int) -> tuple[Array, bool]:
    """Autocorrelation (L,) of a joint's errors, and whether it had to be estimated."""
    white = system.correlation
    lags = min(max(TESTED_LAGS + 1, int(4 * count ** (1 / 3))), max(len(e) for e, _ in pieces) - 1)
    if lags < 2:
        return white, False
    found, pairs = autocorrelation(pieces, lags)
    if found[0] <= 0:
        return white, False
    expected = expected_correlation(system, lags)
    spread = np.sqrt((1 + 2 * np.sum(expected[1:] ** 2)) / np.maximum(pairs, 1.0))
    tested = slice(1, min(TESTED_LAGS, lags) + 1)
    score = float(np.sum(((found - expected)[tested] / spread[tested]) ** 2))
    likely = 2.0 * special.gammaincinv(0.5 * len(found[tested]), _CONFIDENCE)  # chi-square
    if score < likely:
        return white, False
    position = np.arange(lags + 1) / (lags + 1)
    parzen = np.where(
        position < 0.5, 1 - 6 * position**2 + 6 * position**3, 2 * (1 - position) ** 3
    )
    return _positive(found * parzen), True


def _positive(correlation: Array) -> Array:
    """A correlation (L,) whose spectrum is nowhere below LEAST_DENSITY: white noise is added where
    pairs of rows that are missing, or a spectrum next to zero, would make a variance negative.
    """
    even = np.concatenate([correlation, np.zeros(correlation.size), correlation[:0:-1]])
    lowest = float(np.fft.rfft(even).real.min())
    more = np.zeros_like(correlation)
    more[0] = max(LEAST_DENSITY - lowest, 0.0)
    return correlation + more


def _coloured(X: Array, correlation: Array) -> Array:
    """R X (r, k) for the Toeplitz matrix R of a correlation (L,)."""
    if correlation.size > MANY_LAGS:
        return _coloured_in_blocks(X, correlation)
    RX = correlation[0] * X
    for lag in range(1, min(correlation.size, X.shape[0])):
        RX[:-lag] += correlation[lag] * X[lag:]
        RX[lag:] += correlation[lag] * X[:-lag]
    return RX


def _coloured_in_blocks(X: Array, correlation: Array) -> Array:
    """The same for many lags: overlapping blocks of rows, each by a circular convolution (FFT)."""
    lags, (rows, _) = correlation.size - 1, X.shape
    length = 1 << (8 * lags).bit_length()
    kernel = np.fft.rfft(
        np.concatenate([correlation, np.zeros(length - 2 * lags - 1), correlation[:0:-1]])
    )
    RX, step = np.empty_like(X), length - 2 * lags
    for first in range(0, rows, step):
        begin, last = max(first - lags, 0), min(first + step, rows)
        part = np.zeros((length, X.shape[1]))
        seen = X[begin : min(last + lags, rows)]
        part[lags - (first - begin) :][: len(seen)] = seen
        product = np.fft.irfft(np.fft.rfft(part, axis=0) * kernel[:, None], length, axis=0)
        RX[first:last] = product[lags : lags + last - first]
    return RX


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
