"""The tests of what a fit leaves, on systems whose truth is known: they reject about as often as
they say where the hypothesis holds, and nearly always where it clearly does not.
"""

from __future__ import annotations

import numpy as np
import pytest

from didim.regression.instruments import exogeneity, instrument_fit
from didim.regression.least_squares import joint_weights
from didim.regression.residual_tests import bartlett, normality, whiteness
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem, rows_of
from didim.signals.decimation import Decimation

CHI = np.array([1.0, 2.0, -0.5])
SEEDS = 40


def filtered_system(
    seed: int, position_noise: float = 0.0, colour: float = 0.0, heavy: bool = False
) -> tuple[LinearSystem, np.ndarray]:
    """Decimated equations of two joints whose regressor has noise, and the regressor without."""
    random, decimation, N = np.random.default_rng(seed), Decimation(10, "scipy"), 4000
    t = np.arange(N) / 1000.0
    waves = np.stack([np.sin(2 * np.pi * (0.3 + 0.17 * i) * t + i) for i in range(3)], axis=1)
    Z = waves[:, None, :] * np.array([1.0, 2.0])[None, :, None]
    W = Z + position_noise * random.standard_normal(Z.shape) * [1.0, 0.1, 0.0]
    errors = random.standard_t(3, (N, 2)) if heavy else random.standard_normal((N, 2))
    if colour:
        slow = np.convolve(random.standard_normal(N + 199), np.ones(200) / np.sqrt(200), "valid")
        errors[:, 0] += colour * slow
    y = Z @ CHI + errors * [0.5, 2.0]
    used = np.ones((N // 10, 2), dtype=bool)
    used[[0, -1]] = False

    def rows(columns: np.ndarray) -> LinearSystem:
        reduced = decimation.apply(N, lambda a, b: columns.reshape(N, -1)[a:b])
        reduced = reduced.reshape(-1, 2, 3)
        of_y = decimation.apply(N, lambda a, b: y[a:b])
        return rows_of(reduced, of_y, used, ("a", "b", "c"), 0, decimation.correlation)

    return rows(W), rows(Z).W


def rejected(p_values: list[float]) -> float:
    return float(np.mean(np.array(p_values) < 0.05))


def test_the_covariance_of_autocorrelations_is_that_of_many_tries():
    shape = Decimation(4, "fir").correlation
    random, tries, N = np.random.default_rng(1), 1500, 400
    around_zero = np.r_[shape, np.zeros(N - 2 * shape.size + 1), shape[:0:-1]]
    spectrum = np.maximum(np.fft.rfft(around_zero).real, 0.0)
    found = []
    for _ in range(tries):
        e = np.fft.irfft(np.sqrt(spectrum) * np.fft.rfft(random.standard_normal(N)), N)
        around = np.fft.irfft(np.abs(np.fft.rfft(e)) ** 2, N)
        found.append(around[1:6] / around[0])
    np.testing.assert_allclose(N * np.cov(np.array(found).T), bartlett(shape, 5), atol=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("position_noise", [1e-3, 1.5])
def test_instruments_cover_and_their_residual_is_white_whatever_the_noise(position_noise):
    """IDIM, least squares on W, is far off with the larger noise."""
    covered, white, normal, exogenous = [], [], [], []
    for seed in range(SEEDS):
        system, Z = filtered_system(seed, position_noise)
        equations, solution = instrument_fit(system, Z, "wls")
        figures = statistics(equations, solution)
        covered.append(np.abs(solution.values - CHI) < 1.96 * np.sqrt(np.diag(figures.corrected)))
        rho = solution.weights * equations.residual(solution.values)
        white.append(whiteness(equations, 1, rho).p_value)
        normal.append(normality(equations, 1, rho, True).p_value)
        exogenous.append(exogeneity(system, Z, joint_weights(system)).p_value)
    assert 0.88 < np.mean(covered) < 0.99
    assert rejected(white) < 0.15
    assert rejected(normal) < 0.15
    if position_noise < 0.1:
        assert rejected(exogenous) < 0.15
    else:
        assert rejected(exogenous) == 1.0


def test_slow_errors_are_not_white_and_outliers_not_gaussian():
    slow, heavy = [], []
    for seed in range(20):
        for found, faults in ((slow, {"colour": 2.0}), (heavy, {"heavy": True})):
            system, Z = filtered_system(seed, 0.0, **faults)
            equations, solution = instrument_fit(system, Z, "wls")
            rho = solution.weights * equations.residual(solution.values)
            test = whiteness(equations, 0, rho) if faults.get("colour") else None
            found.append((test or normality(equations, 0, rho, True)).p_value)
    assert rejected(slow) == 1.0
    assert rejected(heavy) > 0.5


def test_columns_of_the_noise_that_say_the_same_are_left_out():
    """V of two equal columns, and of one that has no noise, has one degree of freedom."""
    system, Z = filtered_system(3, 1.5)
    twice = LinearSystem(**{**vars(system), "W": system.W[:, [0, 0, 2]]})
    assert exogeneity(twice, Z[:, [0, 0, 2]], joint_weights(system)).rank == 1


def test_few_rows_are_not_tested():
    system, _ = filtered_system(0)
    few = LinearSystem(**{**vars(system), **{
        name: getattr(system, name)[:40] for name in ("W", "y", "joint", "series", "index")
    }})  # fmt: skip
    assert whiteness(few, 0, few.y) is None
    assert normality(few, 0, few.y, True) is None
