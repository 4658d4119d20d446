"""When DIDIM has arrived: the tests (34) on the step that would come next."""

from __future__ import annotations

import numpy as np

from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop
from didim.identification.guards import with_positive_friction
from didim.identification.point import Point
from didim.identification.verdict import BEYOND_NOISE, noise_shares

NEAR = 5.0
"""Tolerances within which an iteration that cannot go on counts as arrived."""

FLOOR = 1e-9
"""Residual below which nothing is left to explain."""


def settled(model: BaseModel, point: Point, tol_residual: float, tol_parameters: float) -> bool:
    """Both tests of (34) on the step that would come next, with absolute values, in fixed units.

    rho^k is the torque error of chi^k on its own simulation, rho^(k+1) what least squares (48)
    leaves of it there. Parameters are compared on a scale that those near zero have too.

    Implements (34).
    """
    if point.simulated.residual < FLOOR:
        return True
    target, _ = with_positive_friction(model, point.system, point.solution)
    old, new = (
        np.linalg.norm(point.system.residual(values)) for values in (point.parameters, target)
    )
    quiet = abs(new - old) <= tol_residual * old
    return bool(quiet and np.max(np.abs(target - point.parameters) / point.scale) <= tol_parameters)


def arrived(model: BaseModel, closed: ClosedLoop, point: Point, tol_parameters: float) -> bool:
    """Whether an iteration that cannot go on has arrived all the same: noise alone is left, and the
    next step is small.
    """
    target, _ = with_positive_friction(model, point.system, point.solution)
    near = np.abs(target - point.parameters) / point.scale <= NEAR * tol_parameters
    noise = noise_shares(closed, point.simulated)
    return bool(np.all(point.simulated.by_joint <= BEYOND_NOISE * noise) and np.all(near))
