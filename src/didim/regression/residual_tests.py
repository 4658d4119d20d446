"""Tests of what a fit leaves of one joint: is it white, and is it Gaussian?

Decimated white noise is not white from row to row: the filter leaves 0.8 of the new band. Both
tests allow for that. Whiteness compares the autocorrelation at the first lags with that of filtered
white noise, with Bartlett's covariance of estimated autocorrelations; normality is the test of
skewness and kurtosis with the variances that they have in correlated errors (I. N. Lobato and
C. Velasco, A simple test of normality for time series, Econometric Theory 20, 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from didim.regression.statistics import (
    TESTED_LAGS,
    autocorrelation,
    expected_correlation,
    joint_errors,
)
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

MIN_ROWS = 5 * TESTED_LAGS
"""Of a joint, for its residual to be tested."""

SMALLEST_VARIANCE = 1e-2
"""Eigenvalues of the covariance of autocorrelations, over the largest, that are above zero."""

_NORMAL_LAGS = 30
"""Whose correlation widens the spread of skewness and kurtosis."""


@dataclass(frozen=True)
class ChiSquare:
    """A statistic that is chi-square where the hypothesis holds."""

    statistic: float
    freedom: int

    @property
    def p_value(self) -> float:
        """How often a statistic as large is seen where the hypothesis holds."""
        return float(special.chdtrc(self.freedom, max(self.statistic, 0.0)))


def bartlett(correlation: Array, lags: int) -> Array:
    """(lags, lags) covariance of the autocorrelations at lags 1 to `lags`, times the rows, that are
    estimated from Gaussian errors with the given correlation (L,).
    """
    reach = correlation.size - 1
    at = np.arange(-(reach + lags), reach + lags + 1)
    padded = np.pad(correlation, (0, 2 * (reach + 2 * lags)))

    def rho(lag: NDArray[np.int64]) -> Array:
        return np.asarray(padded[np.abs(lag)])

    k = np.arange(1, lags + 1)
    both = np.array([rho(at + lag) + rho(at - lag) for lag in k])
    around = both - 2 * np.outer(rho(k), rho(at))
    return np.asarray(0.5 * around @ around.T)


def whiteness(system: LinearSystem, j: int, rho: Array) -> ChiSquare | None:
    """Whether the residual rho (r,) of joint j is white noise, filtered as the rows are; None where
    it has too few rows.
    """
    pieces = joint_errors(system, j, rho)
    if sum(int(used.sum()) for _, used in pieces) < MIN_ROWS:
        return None
    found, pairs = autocorrelation(pieces, TESTED_LAGS)
    if found[0] <= 0:
        return None
    away = (found - expected_correlation(system, TESTED_LAGS))[1:] * np.sqrt(pairs[1:])
    inverse, rank = linalg.pinvh(
        bartlett(system.correlation, TESTED_LAGS), rtol=SMALLEST_VARIANCE, return_rank=True
    )
    return ChiSquare(float(away @ inverse @ away), int(rank))


def normality(system: LinearSystem, j: int, rho: Array, is_white: bool) -> ChiSquare | None:
    """Whether the residual rho (r,) of joint j is Gaussian; None where it has too few rows."""
    pieces = joint_errors(system, j, rho)
    errors = np.concatenate([np.zeros(0), *(e[used] for e, used in pieces)])
    if errors.size < MIN_ROWS or not np.any(errors != errors[0]):
        return None
    lags = min(_NORMAL_LAGS, max(len(e) for e, _ in pieces) - 1)
    shape = expected_correlation(system, lags)
    if not is_white:
        shape = autocorrelation(pieces, lags)[0]
    third, fourth = (1 + 2 * np.sum(shape[1:] ** power) for power in (3, 4))
    z = (errors - errors.mean()) / errors.std()
    skewness, kurtosis = np.mean(z**3), np.mean(z**4) - 3
    parts = skewness**2 / (6 * max(third, 0.1)), kurtosis**2 / (24 * fourth)
    return ChiSquare(float(errors.size * sum(parts)), 2)
