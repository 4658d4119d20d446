"""The corrected covariance against the spread of many estimates on coloured noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal
from scipy.linalg import toeplitz

from didim.regression.least_squares import fit
from didim.regression.statistics import MANY_LAGS, _coloured, statistics
from didim.regression.system import LinearSystem
from didim.signals.decimation import Decimation


def smooth_columns(rows: int, count: int = 3) -> np.ndarray:
    t = np.arange(rows)
    return np.column_stack([np.sin(2 * np.pi * (k + 1) * t / 60 + k) for k in range(count)])


def study(noise, correlation, runs: int = 300, rows: int = 420):
    """Coverage of 95 % intervals from printed and corrected covariances, and the standard deviation
    they should give.
    """
    W, values = smooth_columns(rows), np.array([1.0, -2.0, 0.5])
    hits = {"covariance": 0, "corrected": 0}
    for rho in noise(np.random.default_rng(1), rows, runs).T:
        zeros = np.zeros(rows, dtype=int)
        system = LinearSystem(
            W, W @ values + rho, zeros, zeros, np.arange(rows), ("a", "b", "c"), 1, correlation
        )
        solution = fit(system, "wls")
        figures = statistics(system, solution)
        for name in hits:
            sigma = np.sqrt(np.diag(getattr(figures, name)))
            hits[name] += np.sum(np.abs(solution.values - values) < 1.96 * sigma)
    return {name: count / (3 * runs) for name, count in hits.items()}


def decimated_white(kind: str, factor: int = 10):
    decimator = Decimation(factor, kind)

    def noise(rng, rows, runs):
        raw = rng.standard_normal(((rows + 60) * factor, runs))
        return decimator.apply(len(raw), lambda a, b: raw[a:b])[30 : 30 + rows]

    return noise, decimator.correlation


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fir", "scipy"])
@pytest.mark.parametrize(
    ("runs", "margin"), [(300, 0.015), pytest.param(1200, 0.01, marks=pytest.mark.long)]
)
def test_filtered_white_noise_needs_the_filters_bandwidth(kind, runs, margin):
    """Tests (16)."""
    covered = study(*decimated_white(kind), runs=runs)
    assert covered["covariance"] < covered["corrected"] - 0.01
    assert abs(covered["corrected"] - 0.95) < margin


@pytest.mark.slow
def test_white_noise_is_left_as_it_is():
    covered = study(lambda rng, rows, runs: rng.standard_normal((rows, runs)), np.ones(1))
    assert 0.935 < covered["corrected"] < 0.965
    assert abs(covered["corrected"] - covered["covariance"]) < 0.01


def test_no_variance_of_the_noise_of_accelerations_is_zero():
    """Noise of positions, differentiated twice, has next to no power where the columns are. With
    rows left out, its estimated spectrum was negative there, and a sigma zero.
    """
    rows, rng = 1200, np.random.default_rng(5)
    moving = np.flatnonzero(np.abs(np.sin(2 * np.pi * np.arange(rows) / 60)) > 0.25)
    W, same = smooth_columns(rows)[moving], np.zeros(moving.size, dtype=int)
    for _ in range(20):
        y = np.diff(rng.standard_normal(rows + 2), 2)[moving]
        system = LinearSystem(W, y, same, same, moving, ("a", "b", "c"), 1, np.ones(1))
        assert np.all(np.diag(statistics(system, fit(system, "wls")).corrected) > 0)


@pytest.mark.slow
def test_long_correlation_is_seen_in_the_residuals():
    """Noise of an AR(1) process with lag-1 correlation 0.67, as the residuals of real machines
    have.
    """
    covered = study(
        lambda rng, rows, runs: signal.lfilter(
            [1.0], [1.0, -0.67], rng.standard_normal((rows, runs)), axis=0
        ),
        np.ones(1),
    )
    assert covered["covariance"] < 0.75
    assert 0.88 < covered["corrected"] < 0.97


def test_a_long_correlation_is_applied_as_its_toeplitz_matrix():
    rng = np.random.default_rng(0)
    correlation = np.exp(-np.arange(3 * MANY_LAGS) / 20.0)
    for rows in (5000, 500, 50):
        X = rng.standard_normal((rows, 3))
        lags = np.zeros(max(rows, correlation.size))
        lags[: correlation.size] = correlation
        expected = toeplitz(lags[:rows]) @ X
        np.testing.assert_allclose(_coloured(X, correlation), expected, rtol=1e-10, atol=1e-12)
