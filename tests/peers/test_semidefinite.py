"""Least squares over the physically consistent set against a semidefinite solver, Clarabel through
CVXPY.
"""

from __future__ import annotations

import numpy as np
import pytest

import didim
from didim.dynamics.physical import has_robot, lacks_of, least_squares_inside
from support.estimates import physical_parameters
from support.semidefinite import semidefinite_solution

CASES = [
    ("scara", None, 1),
    ("double_pendulum", None, 0),
    ("double_pendulum", ["viscous", "coulomb", "offset"], 2),
    ("tx40", None, 0),
    ("scara", ["rotor", "asymmetric_viscous", "asymmetric_coulomb"], 3),
]


def outside(model, seed):
    """R (b, b) and target (b,) in standard deviations of 5 % torque noise, of base parameters that
    are far from physical, and the number of rows.
    """
    rng = np.random.default_rng(seed)
    beta = model.matrix @ physical_parameters(model.full, 0.3, seed)
    beta = beta * (1 + 0.6 * rng.standard_normal(beta.size))
    W = model.regressor(*rng.uniform(-2, 2, (3, 100, model.robot.n))).reshape(-1, beta.size)
    sigma = 0.05 * np.linalg.norm(W @ beta) / np.sqrt(len(W))
    R = np.linalg.qr(W / sigma)[1]
    return R, R @ beta, len(W)


@pytest.mark.parametrize(("name", "effects", "seed"), CASES)
def test_the_optimum_of_a_semidefinite_solver(name, effects, seed):
    model = didim.DynamicModel(didim.load_robot(name), effects).base
    R, target, rows = outside(model, seed)
    assert lacks_of(model, np.linalg.solve(R, target)).theta is None
    theta = least_squares_inside(model, R, target, 1e-9 * rows)
    assert has_robot(model, model.matrix @ theta, theta)
    found, expected = R @ model.matrix @ theta, R @ semidefinite_solution(model, R, target)
    squares = [rows + np.sum((each - target) ** 2) for each in (found, expected)]
    assert squares[0] == pytest.approx(squares[1], rel=1e-6)
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(target)
