"""Least squares over the physically consistent set by a semidefinite solver: Clarabel, through
CVXPY; both are dependencies of the tests alone.
"""

from __future__ import annotations

import warnings

import pytest

from didim.dynamics.consistent import BASIS, positive_parameters

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
"""By its default tolerances Clarabel ends 1e-6 of the squares above the optimum, on some machines.
"""


def semidefinite_solution(model, R, target):
    """beta (b,) of the least |R beta - target|^2 over the set of a base model."""
    cvxpy = pytest.importorskip("cvxpy", reason="CVXPY is not installed: pip install didim[test]")
    theta = cvxpy.Variable(len(model.full.parameter_names))
    constraints = [
        sum(theta[int(k)] * BASIS[i] for i, k in enumerate(columns)) >> 0
        for columns in model.layout.link
    ]
    constraints.append(theta[positive_parameters(model.full)] >= 0)
    cost = cvxpy.sum_squares(R @ model.matrix @ theta - target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it ends short of these tolerances
        cvxpy.Problem(cvxpy.Minimize(cost), constraints).solve(solver="CLARABEL", **TIGHT)
    return model.matrix @ theta.value
