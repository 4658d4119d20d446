"""OLS, WLS, IRLS and the printed statistics (15)-(20), against NumPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.regression.essential import essential
from didim.regression.least_squares import (
    fit,
    joint_deviations,
    least_squares,
    with_positive_friction,
)
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem, stack

TRUE = np.array([3.0, -1.0, 0.5, 20.0])


def system(
    noise=(0.1, 2.0), rows: int = 400, seed: int = 0, scale=1.0, values=TRUE
) -> LinearSystem:
    """Two joints; the second does not see the first parameter."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((2 * rows, 4)) * scale
    joint = np.repeat([0, 1], rows)
    W[joint == 1, 0] = 0.0
    y = W @ values + np.asarray(noise)[joint] * rng.standard_normal(2 * rows)
    index = np.tile(np.arange(rows), 2)
    return LinearSystem(W, y, joint, 0 * joint, index, ("a", "b", "c", "d"), 2, np.ones(1))


def test_ols_is_lstsq_and_its_covariance_that_of_the_textbook():
    """Tests (15)-(18)."""
    s = system()
    found = fit(s, "ols")
    expected, residual, *_ = np.linalg.lstsq(s.W, s.y, rcond=None)
    assert np.allclose(found.values, expected, rtol=1e-12)
    covariance = statistics(s, found).covariance
    assert np.allclose(
        covariance, residual[0] / (s.y.size - 4) * np.linalg.inv(s.W.T @ s.W), rtol=1e-10
    )


def test_wls_weighs_each_joint_by_its_own_deviation():
    """Tests (20)."""
    s = system()
    deviation = joint_deviations(s)
    by_hand = []
    for j, columns in ((0, [0, 1, 2, 3]), (1, [1, 2, 3])):
        W, y = s.W[s.joint == j][:, columns], s.y[s.joint == j]
        by_hand.append(
            np.linalg.norm(y - W @ np.linalg.lstsq(W, y, rcond=None)[0])
            / np.sqrt(y.size - len(columns))
        )
    assert np.allclose(deviation, by_hand, rtol=1e-12)
    w = 1 / np.array(by_hand)[s.joint]
    assert np.allclose(
        fit(s, "wls").values,
        np.linalg.lstsq(s.W * w[:, None], s.y * w, rcond=None)[0],
        rtol=1e-10,
    )


def test_wls_is_more_accurate_than_ols():
    spread = {
        name: np.std([fit(system(seed=k), name).values for k in range(40)], axis=0)
        for name in ("ols", "wls")
    }
    assert np.all(spread["wls"] < spread["ols"])
    assert np.all(spread["wls"][1:] < 0.2 * spread["ols"][1:])


def test_irls_does_not_follow_outliers():
    s = system(noise=(0.1, 0.1))
    y = s.y.copy()
    y[::10] += 50.0
    spoiled = LinearSystem(s.W, y, s.joint, s.series, s.index, s.names, s.n, s.correlation)
    assert np.abs(fit(spoiled, "wls").values - TRUE).max() > 0.3
    assert np.abs(fit(spoiled, "irls").values - TRUE).max() < 0.1


def test_units_do_not_matter():
    """Columns in microns and megagrams give the same numbers, in those units."""
    scale = np.array([1e-6, 1.0, 1e3, 1e6])
    plain, scaled = system(), system(scale=scale, values=TRUE / scale)
    for name in ("ols", "wls", "irls"):
        assert np.allclose(fit(scaled, name).values * scale, fit(plain, name).values, rtol=1e-6)


def test_dependent_columns_are_found_and_named():
    s = system()
    W = s.W.copy()
    W[:, 3] = 2 * W[:, 1]
    blind = LinearSystem(W, s.y, s.joint, s.series, s.index, s.names, s.n, s.correlation)
    found = fit(blind, "wls")
    assert found.rank == 3
    assert found.confounded.tolist() == [False, True, False, True]
    figures = statistics(blind, found)
    sigma = np.sqrt(np.diag(figures.covariance))
    assert np.isinf(sigma[[1, 3]]).all()
    assert np.isfinite(sigma[[0, 2]]).all()
    assert np.isfinite(found.values).all()


def test_a_column_of_zeros_is_found():
    s = system()
    W = s.W.copy()
    W[:, 2] = 0.0
    found = fit(
        LinearSystem(W, s.y, s.joint, s.series, s.index, s.names, s.n, s.correlation), "wls"
    )
    assert found.confounded.tolist() == [False, False, True, False]
    assert found.values[2] == 0.0


def test_fewer_equations_than_parameters_is_an_error():
    with pytest.raises(didim.InputError, match="too short: 4 equations remain for 4 parameters"):
        fit(system(rows=2), "ols")


def test_experiments_stack_joint_by_joint():
    """Tests (14)."""
    one, two = system(seed=1, rows=30), system(seed=2, rows=50)
    both = stack([one, LinearSystem(**{**vars(two), "series": two.series + 1})])
    assert np.all(np.diff(both.joint) >= 0)
    assert both.y.size == one.y.size + two.y.size
    expected = np.linalg.lstsq(
        np.vstack([one.W, two.W]), np.concatenate([one.y, two.y]), rcond=None
    )[0]
    assert np.allclose(fit(both, "ols").values, expected)


def test_essential_parameters_keep_what_matters():
    s = system(noise=(1.0, 1.0), values=np.array([3.0, 0.0, 0.001, 20.0]), seed=5)
    found = essential(s, np.ones(s.y.size))
    assert [s.names[i] for i in found.kept] == ["a", "d"]
    assert set(found.removed) == {"b", "c"}
    assert found.residual_after - found.residual_before < 1e-3


def test_essential_parameters_do_not_lose_a_significant_one():
    s = system(noise=(1.0, 1.0), values=np.array([3.0, 0.25, 1.0, 20.0]))
    assert essential(s, np.ones(s.y.size)).removed == ()


def test_weights_scale_the_solution_rows():
    s = system()
    w = np.random.default_rng(0).uniform(0.5, 2.0, s.y.size)
    assert np.allclose(
        least_squares(s, w).values, np.linalg.lstsq(s.W * w[:, None], s.y * w, rcond=None)[0]
    )


def test_a_joint_with_few_equations_does_not_rule():
    """It would fit itself, and its weight would be that of an exact measurement."""
    rng = np.random.default_rng(0)
    W, joint = rng.standard_normal((130, 30)), np.repeat([0, 1], [25, 105])
    y = W @ np.ones(30) + 0.1 * rng.standard_normal(130)
    few = LinearSystem(
        W, y, joint, 0 * joint, np.arange(130), tuple(map(str, range(30))), 2, np.ones(1)
    )
    assert np.all(joint_deviations(few) > 0.03)


@pytest.mark.long
@pytest.mark.parametrize("outliers", [False, True])
def test_sigma_of_irls_is_its_spread(outliers):
    found, told = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        s = system(noise=(1.0, 1.0), rows=200, seed=seed)
        y = s.y + outliers * 10 * rng.standard_normal(s.y.size) * (rng.uniform(size=s.y.size) < 0.1)
        s = LinearSystem(s.W, y, s.joint, s.series, s.index, s.names, s.n, s.correlation)
        solution = fit(s, "irls")
        found.append(solution.values)
        told.append(np.sqrt(np.diag(statistics(s, solution).covariance)))
    assert np.allclose(np.mean(told, axis=0), np.std(found, axis=0), rtol=0.15)


def test_bounded_friction_respects_what_cannot_be_told_apart():
    from support.virtual import model

    rng = np.random.default_rng(0)
    W = rng.standard_normal((400, 8))
    W[:, 3] = W[:, 0] * (1 + 1e-11 * rng.standard_normal(400))
    y = W @ np.array([1.0, -1.0, 1, 1, 1, 1, 1, 1]) + 0.1 * rng.standard_normal(400)
    joint = np.repeat([0, 1], 200)
    s = LinearSystem(
        W,
        y,
        joint,
        0 * joint,
        np.tile(np.arange(200), 2),
        model().base.parameter_names,
        2,
        np.ones(1),
    )
    values, held = with_positive_friction(model().base.frictional, s, fit(s, "ols"))
    assert "Fv1" in held
    assert np.abs(values).max() < 10
