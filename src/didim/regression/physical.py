"""Least squares over the physically consistent set, weighted as plain least squares was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.consistent import positive_parameters
from didim.dynamics.model import BaseModel
from didim.dynamics.physical import has_known, lacks_of, least_squares_inside
from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem, compressed

Array = NDArray[np.float64]

RELATIVE_GAP = 1e-9
"""By how much, as a fraction, the squared residual may exceed the least."""

_ROUNDING = 1e-4
"""Of the torque: a smaller residual is taken for one of this size."""


_ZERO = 1e-4
"""Fraction of its plain value below which a parameter that cannot be negative is zero."""


def physical_fit(model: BaseModel, system: LinearSystem, solution: Solution) -> Array | None:
    """(p,) standard parameters of the set with the least weighted residual; None where the solution
    (15), (20) is inside the set, and so the least itself.
    """
    if lacks_of(model, solution.values).theta is not None and has_known(model, solution.values):
        return None
    weights = solution.row_weights
    rho = float(np.sum((weights * system.residual(solution.values)) ** 2))
    floor = (_ROUNDING * float(np.linalg.norm(weights * system.y))) ** 2
    unit = np.sqrt(system.y.size / max(rho, floor, np.finfo(float).tiny))
    R, target = compressed(system, weights * unit)
    theta = least_squares_inside(model, R, target, 0.5 * RELATIVE_GAP * system.y.size)
    own = model.lift @ solution.values
    at_zero = positive_parameters(model.full)
    at_zero = at_zero[theta[at_zero] < _ZERO * np.abs(own[at_zero])]
    theta[at_zero] = 0.0
    return theta
