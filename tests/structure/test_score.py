"""Score tests are least squares with one column more, without solving it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import toeplitz

from didim.regression.score import burst_covariance, score_tests
from didim.regression.system import LinearSystem

ROWS, NOISE = 400, 0.3


def system(X: np.ndarray, y: np.ndarray, joints: int = 1) -> LinearSystem:
    """Equations of white errors, the rows shared by the joints."""
    rows = y.size // joints
    return LinearSystem(
        X,
        y,
        np.repeat(np.arange(joints), rows),
        np.zeros(y.size, dtype=np.int64),
        np.tile(np.arange(rows), joints),
        tuple(f"x{i}" for i in range(X.shape[1])),
        joints,
        np.ones(1),
    )


@pytest.fixture
def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, Z with a part of X in it, and a residual that both explain."""
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((ROWS, 4)), rng.standard_normal((ROWS, 3))
    Z[:, 0] += 2.0 * X[:, 1]
    y = X @ [1.0, -2.0, 0.5, 3.0] + 0.7 * Z[:, 0] + NOISE * rng.standard_normal(ROWS)
    return X, Z, y


def test_value_share_and_shift_are_those_of_the_augmented_least_squares(columns):
    X, Z, y = columns
    weights = np.linspace(0.5, 2.0, ROWS)
    tests = score_tests(system(X, y), Z, weights)
    for chosen in ([0], [1], [0, 2]):
        both = np.column_stack([X, Z[:, chosen]]) * weights[:, None]
        solution = np.linalg.lstsq(both, y * weights, rcond=None)[0]
        left = np.sum((y * weights - both @ solution) ** 2)
        before = np.sum((y * weights - both[:, :4] @ tests.step) ** 2)
        score = tests.of(chosen)
        np.testing.assert_allclose(score.values, solution[4:], rtol=1e-9)
        np.testing.assert_allclose(tests.moved(chosen), solution[:4], rtol=1e-9)
        assert score.share == pytest.approx(1 - left / before, rel=1e-9)
        assert score.rank == len(chosen)


def test_sigma_is_that_of_the_augmented_least_squares(columns):
    X, Z, y = columns
    tests = score_tests(system(X, y), Z, np.ones(ROWS))
    both = np.column_stack([X, Z[:, [0]]])
    left = tests.size * (1 - tests.of([0]).share) / (ROWS - 5)
    spread = np.sqrt(np.linalg.inv(both.T @ both)[4, 4] * left)
    # the autocovariance that is estimated from 400 rows is known to a few percent
    assert tests.of([0]).sigma[0] == pytest.approx(spread, rel=0.15)


def test_what_is_added_leaves_the_others_as_the_larger_model_has_them(columns):
    X, Z, y = columns
    rest = score_tests(system(X, y), Z, np.ones(ROWS)).without([0])
    larger = score_tests(system(np.column_stack([X, Z[:, 0]]), y), Z[:, 1:], np.ones(ROWS))
    np.testing.assert_allclose(rest.of([1, 2]).values, larger.of([0, 1]).values, rtol=1e-9)
    assert rest.of([1]).share == pytest.approx(larger.of([0]).share, rel=1e-9)
    assert rest.of([0]).rank == 0


def test_what_the_parameters_reproduce_is_not_tested(columns):
    X, _, y = columns
    score = score_tests(system(X, y), X[:, [2]] + 3.0 * X[:, [0]], np.ones(ROWS)).of([0])
    assert score.rank == 0
    assert score.p_value == 1.0
    assert np.isinf(score.sigma[0])


def test_white_errors_raise_the_test_as_often_as_its_level_says():
    """1000 tests at 5 %: 50 are expected, with a standard deviation of 7."""
    rng = np.random.default_rng(2)
    X, raised = rng.standard_normal((200, 3)), 0
    Z = rng.standard_normal((200, 20))
    for _ in range(50):
        y = rng.standard_normal(200)
        tests = score_tests(system(X, y, joints=2), Z, np.ones(200))
        raised += sum(tests.of([k]).p_value < 0.05 for k in range(20))
    assert 22 <= raised <= 80


def test_filtered_errors_raise_the_test_as_often_as_its_level_says():
    """Decimated noise fills 0.8 of the band, where the columns are: each takes 1.25 of the error's
    variance with it. Many columns on few rows show whether that is counted.
    """
    t, count, runs = np.arange(ROWS), 40, 150
    columns = [np.sin(np.pi * f * t + f) for f in np.linspace(0.02, 0.6, 2 * count)]
    X, Z = np.column_stack(columns[::2]), np.column_stack(columns[1::2])
    correlation = np.sinc(0.8 * t) * np.maximum(1 - t / 30, 0.0)
    size, V = np.linalg.eigh(toeplitz(correlation))
    filtered, rng = V * np.sqrt(np.maximum(size, 0.0)), np.random.default_rng(3)
    found = []
    for _ in range(runs):
        equations = replace(
            system(X, filtered @ rng.standard_normal(ROWS)), correlation=correlation[:30]
        )
        found.append(score_tests(equations, Z, np.ones(ROWS)).of(range(count)).statistic)
    spread = np.sqrt(2 / count / runs)
    assert abs(np.mean(found) - 1) < 3 * spread, "0.1 too large where it is not counted"


def test_the_covariance_of_bursts_is_the_one_with_bartletts_window(columns):
    X, Z, y = columns
    theta = (Z.T @ y) / np.sum(Z**2, axis=0)
    u = Z * (y[:, None] - Z * theta)
    width = int(4 * ROWS ** (1 / 3))
    expected = u.T @ u
    for lag in range(1, width):
        product = u[:-lag].T @ u[lag:]
        expected += (1 - lag / width) * (product + product.T)
    np.testing.assert_allclose(burst_covariance(system(X, y), Z, y), expected, rtol=1e-9)


def test_errors_in_bursts_are_no_proof_where_bursts_are_known():
    rng, raised = np.random.default_rng(5), np.zeros(2)
    burst = np.zeros((ROWS, 20))
    for k in range(20):
        burst[20 * k : 20 * k + 5, k] = 1.0
    for _ in range(100):
        X, Z = rng.standard_normal((ROWS, 2)), burst @ rng.standard_normal((20, 1))
        y = 0.1 * rng.standard_normal(ROWS) + burst @ rng.standard_normal(20)
        for k in range(2):
            test = score_tests(system(X, y), Z, np.ones(ROWS), bursts=bool(k))
            raised[k] += test.of([0]).p_value < 0.01
    assert raised[1] <= 3
    assert raised[0] >= 10


def test_long_records_leave_no_rows_in_the_tests(columns):
    X, Z, y = columns
    tests = score_tests(system(X, y), Z, np.ones(ROWS))
    assert tests.Z.shape == (4, 3)
    assert tests.rows == ROWS
    left = Z - X @ np.linalg.lstsq(X, Z, rcond=None)[0]
    np.testing.assert_allclose(tests.squares, left.T @ left, rtol=1e-10)
