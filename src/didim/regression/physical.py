"""Least squares over the physically consistent set, weighted as plain least squares was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import Sign
from didim.dynamics.physical import lacks_of, least_squares_inside
from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem, compressed

Array = NDArray[np.float64]

_ROUNDING = 1e-9
"""Of the torque: a smaller residual is rounding."""


_ZERO = 1e-6
"""Fraction of its plain value below which a parameter that cannot be negative is zero."""


def physical_values(model: BaseModel, system: LinearSystem, solution: Solution) -> Array | None:
    """(b,) the base parameters of the set with the least weighted residual; None where those of the
    solution (15), (20) are inside the set, and so the least themselves.
    """
    if lacks_of(model, solution.values).theta is not None:
        return None
    weights = solution.row_weights
    rho = float(np.sum((weights * system.residual(solution.values)) ** 2))
    floor = (_ROUNDING * float(np.linalg.norm(weights * system.y))) ** 2
    unit = np.sqrt(system.y.size / max(rho, floor, np.finfo(float).tiny))
    R, target = compressed(system, weights * unit)
    values = model.matrix @ least_squares_inside(model, R, target, float(system.y.size))
    positive = np.array([each.sign is Sign.POSITIVE for each in model.parameters])
    at_zero = positive & (np.abs(values) < _ZERO * np.abs(solution.values))
    return np.where(at_zero, 0.0, values)
