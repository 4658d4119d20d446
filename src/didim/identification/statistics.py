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

from didim.identification.least_squares import Solution, least_squares
from didim.identification.problem import Evaluation
from didim.identification.records import RecordSet, Window
from didim.identification.system import LinearSystem
from didim.signals.noise import is_undersampled, noise_variance

Array = NDArray[np.float64]

_TESTED = 12
"""Lags at which residuals are compared with filtered white noise."""

_CONFIDENCE = 0.999
"""Of that test."""

ESSENTIAL_CONFIDENCE = 0.95
"""Of the F-test that a removal must pass."""

BEYOND_NOISE = 2.0
"""Times the noise beyond which a residual needs an explanation."""

_BLIND = 1e10
"""Condition number of W+ J beyond which it is not used."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """Of one estimate."""

    covariance: Array
    """(b, b) as printed, (18); infinite variance where a parameter cannot be told apart."""
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
    rho = (
        solution.influence
        * solution.weights
        * system.residual(solution.values if parameters is None else parameters)
    )
    freedom = max(rho.size - solution.rank, 1)
    variance = float(rho @ rho) / freedom
    middle, coloured = _middle(system, solution, rho)
    hidden = np.where(solution.confounded, np.inf, 0.0)
    with np.errstate(invalid="ignore"):
        printed = variance * solution.inverse + np.diag(hidden)
        gain = solution.inverse if jacobian is None else _gain(system, solution, jacobian)
        corrected = gain @ middle @ gain.T + np.diag(hidden)
    return Statistics(
        printed,
        corrected,
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


def _middle(system: LinearSystem, solution: Solution, rho: Array) -> tuple[Array, tuple[int, ...]]:
    """Sum over joints and experiments of W' R W (weighted rows), and the joints whose R was
    estimated.
    """
    weighted = system.W * solution.weights[:, None]
    total, coloured = np.zeros((weighted.shape[1],) * 2), []
    for j in np.unique(system.joint):
        pieces = _pieces(system, j, weighted, rho)
        leverage = sum(float(np.sum((W @ solution.inverse) * W)) for W, _, _ in pieces)
        count = sum(int(used.sum()) for _, _, used in pieces)
        variance = sum(float(e @ e) for _, e, _ in pieces) / max(count - leverage, 1.0)
        shape, is_coloured = _correlation(system, pieces, count)
        if is_coloured:
            coloured.append(int(j))
        for W, _, _ in pieces:
            total += variance * _toeplitz(W, shape)
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
    share = np.arange(lags + 1) / (lags + 1)
    parzen = np.where(share < 0.5, 1 - 6 * share**2 + 6 * share**3, 2 * (1 - share) ** 3)
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
    weights = solution.row_weights[:, None]
    step = solution.inverse @ ((system.W * weights).T @ (jacobian * weights))
    return float(np.abs(np.linalg.eigvals(np.eye(step.shape[0]) - step)).max())


def torque_noise(records: RecordSet, window: Window, evaluation: Evaluation) -> Array:
    """(n,) fraction of each joint's decimated torque that white noise would be, by second
    differences of the raw torque; 0 where too few samples in a period leave it unknown.
    """
    variance, count, unknown = np.zeros(records.n), 0, np.zeros(records.n, dtype=bool)
    pairs = zip(records.records, evaluation.motions, window.samples, strict=True)
    for record, motion, (start, stop) in pairs:
        tau, used, rows = np.asarray(record.tau), slice(start, stop), max(stop - start - 2, 0)
        variance += rows * noise_variance(tau, used)
        count += rows
        unknown |= is_undersampled(tau[used], motion.tau[used])
    decimator = records.selection.decimator
    kept = sum(decimator.kept(stop - start).size for start, stop in window.samples)
    rms = evaluation.sizes[: records.n] / np.sqrt(max(kept, 1))
    noise = np.sqrt(decimator.noise_gain * variance / max(count, 1)) / np.where(rms > 0, rms, 1.0)
    return np.where(unknown, 0.0, noise)


@dataclass(frozen=True, eq=False)
class Essential:
    """What remains, and what leaving out the rest costs."""

    kept: NDArray[np.int64]
    """Indices of the remaining parameters, in their order."""
    removed: tuple[str, ...]
    """In the order in which they went."""
    residual_before: float
    """||Y - W chi|| / ||Y||, unweighted, with all parameters."""
    residual_after: float


def essential(system: LinearSystem, weights: Array) -> Essential:
    """Backward elimination: the parameter of largest relative sigma goes, as long as an F-test does
    not miss it.

    Leaving one parameter out raises the sum of squares by (value / sigma)^2 times the variance of
    the errors, so that the F statistic is the inverse square of its relative sigma. The degrees of
    freedom are those of as many independent rows as the decimation filter leaves.
    """
    kept = np.arange(len(system.names))
    removed: list[str] = []
    independent = system.y.size / float(np.sum(system.correlation**2) * 2 - 1)
    chosen, solution = system, least_squares(system, weights)
    before = after = _residual(system, solution.values)
    while kept.size > 1:
        freedom = max(independent - solution.rank, 1.0)
        variance = np.diag(solution.inverse) * _square(chosen, weights, solution.values) / freedom
        fisher = np.where(
            solution.confounded, 0.0, solution.values**2 / np.maximum(variance, 1e-300)
        )
        worst = int(fisher.argmin())
        if fisher[worst] > stats.f.ppf(ESSENTIAL_CONFIDENCE, 1, freedom):
            break
        removed.append(chosen.names[worst])
        kept = np.delete(kept, worst)
        chosen = system.only(kept)
        solution = least_squares(chosen, weights)
        after = _residual(chosen, solution.values)
    return Essential(kept, tuple(removed), before, after)


def _square(system: LinearSystem, weights: Array, values: Array) -> float:
    rho = weights * system.residual(values)
    return float(rho @ rho)


def _residual(system: LinearSystem, values: Array) -> float:
    return float(np.linalg.norm(system.residual(values)) / np.linalg.norm(system.y))
