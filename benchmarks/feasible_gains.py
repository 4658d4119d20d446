"""Drive gains by unweighted least squares inside the physically consistent set, the first one
bounded from below: how the author of the UR10e's records finds them (S. Mamedov,
dynamic_calibration, `estimate_drive_gains.m`, method "PC-OLS"; there with the inertia about the
centre positive definite, here with all of the pseudo-inertia). By CVXPY and Clarabel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import didim
from didim.dynamics.consistent import BASIS, positive_parameters
from didim.payload.gain_equations import gain_equations
from didim.robot.effects import LINK

Array = NDArray[np.float64]


def feasible_gains(
    model: didim.DynamicModel,
    empty: didim.Experiment,
    loaded: didim.Experiment,
    mass: float,
    smallest: float,
) -> Array:
    """(n,) the least |V g - W chi - W B phi|^2 over gains g, parameters chi and the load phi, whose
    mass is known, with g_1 >= `smallest`.
    """
    import cvxpy

    base, last = model.base, model.robot.n - 1
    rows = gain_equations(base, [empty], [loaded], last, {"M": mass}, didim.IDIM())
    W, B = rows.system.W, base.matrix[:, base.layout.link[last]]
    columns = [
        rows.by_joint(rows.system.y),
        -W @ base.matrix,
        -(W @ B) * rows.is_loaded[:, None],
    ]
    R = np.linalg.qr(np.hstack(columns), mode="r")
    g, phi = cvxpy.Variable(rows.n), cvxpy.Variable(len(LINK))
    theta = cvxpy.Variable(base.matrix.shape[1])
    bodies = [(theta[int(k)] for k in link) for link in base.layout.link]
    constraints = [
        sum(value * matrix for value, matrix in zip(each, BASIS, strict=True)) >> 0
        for each in (*bodies, phi)
    ]
    constraints += [theta[positive_parameters(base.full)] >= 0]
    constraints += [phi[LINK.index("M")] == mass, g[0] >= smallest]
    cost = cvxpy.sum_squares(R @ cvxpy.hstack([g, theta, phi]))
    cvxpy.Problem(cvxpy.Minimize(cost), constraints).solve(solver="CLARABEL")
    return np.asarray(g.value, dtype=np.float64)
