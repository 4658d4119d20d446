"""One rigid body: slopes of centre and inertia, and the best physical one."""

from __future__ import annotations

import numpy as np
import pytest

from didim.dynamics.consistent import BASIS
from didim.payload.body import (
    centre_slopes,
    deviations,
    inertia_slopes,
    load_with,
    physical_body,
)
from didim.robot.inertia import about_centre, about_origin, is_consistent, pseudo_inertia

UPPER = np.triu_indices(3)
BODY = about_origin(2.0, [0.1, -0.2, 0.3], np.diag([0.02, 0.03, 0.04]))


def finite_differences(function, phi, step=1e-6):
    moves = step * np.eye(10)
    return np.column_stack([(function(phi + d) - function(phi - d)) / (2 * step) for d in moves])


def test_slopes_of_the_centre_are_those_of_finite_differences():
    found = finite_differences(lambda phi: about_centre(phi)[1], BODY)
    np.testing.assert_allclose(centre_slopes(BODY), found, atol=1e-8)


def test_slopes_of_the_inertia_are_those_of_finite_differences():
    found = finite_differences(lambda phi: about_centre(phi)[2][UPPER], BODY)
    np.testing.assert_allclose(inertia_slopes(BODY), found, atol=1e-8)


def test_deviations_of_a_linear_function_are_those_of_a_sample():
    rng = np.random.default_rng(0)
    L = 1e-4 * rng.standard_normal((10, 10))
    sample = BODY + rng.standard_normal((20000, 10)) @ L.T
    seen = np.std([about_centre(phi)[1] for phi in sample], axis=0)
    np.testing.assert_allclose(deviations(centre_slopes(BODY), L @ L.T), seen, rtol=0.03)


def test_what_is_not_known_makes_infinite():
    covariance = np.eye(10)
    covariance[9, 9] = np.inf
    assert np.all(np.isinf(deviations(centre_slopes(BODY), covariance)))
    assert np.isfinite(deviations(np.eye(10)[:1], covariance)).all()


def test_a_physical_body_is_kept_as_it_is():
    R = np.eye(10)
    assert physical_body(R, R @ BODY, BODY) is BODY


@pytest.mark.parametrize("seed", range(3))
def test_the_best_physical_body_is_that_of_a_semidefinite_solver(seed):
    cvxpy = pytest.importorskip("cvxpy", reason="CVXPY is not installed: pip install didim[test]")
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((14, 10)) * np.geomspace(1, 100, 10)
    plain = BODY + 0.3 * rng.standard_normal(10)
    assert not is_consistent(plain)
    phi = cvxpy.Variable(10)
    body = sum(phi[k] * BASIS[k] for k in range(10))
    cost = cvxpy.sum_squares(R @ phi - R @ plain)
    cvxpy.Problem(cvxpy.Minimize(cost), [body >> 0]).solve(solver="CLARABEL")
    found = physical_body(R, R @ plain, plain)
    assert np.linalg.eigvalsh(pseudo_inertia(found))[0] > -1e-9
    assert np.sum((R @ (found - plain)) ** 2) <= cost.value * (1 + 1e-4) + 1e-6


def test_a_body_with_known_numbers_has_them():
    found = load_with({"M": 2.0, "MX": 0.3})
    assert (found[9], found[6]) == (2.0, 0.3)
    assert is_consistent(found)
