"""Least squares over the physically consistent set by a semidefinite solver: Clarabel, through
CVXPY; both are dependencies of the tests alone.
"""

from __future__ import annotations

import pytest

from didim.dynamics.consistent import BASIS, positive_parameters


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
    cvxpy.Problem(cvxpy.Minimize(cost), constraints).solve(solver="CLARABEL")
    return model.matrix @ theta.value
