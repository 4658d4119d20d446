"""Guards of an iteration: friction that is not negative, inertia matrices that are positive
definite.

A least squares step knows nothing of mechanics. What it proposes is brought back to the nearest
parameters that a machine could have: friction bounded by zero, just enough inertia added. What
still fails is shortened (`iteration.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import lsq_linear

from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import ParameterKind
from didim.identification.least_squares import Solution
from didim.identification.system import LinearSystem

Array = NDArray[np.float64]

MARGIN = 0.05
"""Smallest eigenvalue, in units of the joints' own inertias, that a matrix brought back has."""

_ROUNDS = 20
_SAMPLES = 200
"""Configurations at which the inertia matrix is looked at."""


def with_positive_friction(
    model: BaseModel, system: LinearSystem, solution: Solution
) -> tuple[Array, tuple[str, ...]]:
    """The solution's values, or those of the same problem with friction bounded by zero; and the
    names that were held there.
    """
    bounded = model.frictional
    if not np.any(solution.values[bounded] < 0):
        return solution.values, ()
    W = system.W * solution.row_weights[:, None]
    scale = np.linalg.norm(W, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    Q, R = linalg.qr(W / scale, mode="economic", check_finite=False)
    lower = np.where(bounded, 0.0, -np.inf)
    z = Q.T @ (system.y * solution.row_weights)
    if solution.rank < R.shape[1]:  # what W does not see stays where least squares left it
        singular, right = linalg.svd(R, check_finite=False)[1:]
        blind = singular[0] * right[solution.rank :]
        R, z = np.vstack([R, blind]), np.concatenate([z, blind @ (scale * solution.values)])
    found = lsq_linear(R, z, bounds=(lower, np.inf), method="bvls", lsq_solver="exact")
    values = np.where(bounded, np.maximum(found.x, 0.0), found.x) / scale
    held = bounded & (values <= 1e-12 * np.abs(solution.values).max())
    return np.where(held, 0.0, values), tuple(
        name for name, is_held in zip(system.names, held, strict=True) if is_held
    )


def without_negative_friction(model: BaseModel, parameters: Array) -> Array:
    """The parameters (b,), friction at least zero."""
    return np.where(model.frictional, np.maximum(parameters, 0.0), parameters)


def inertia_directions(model: BaseModel) -> Array:
    """(n, b) base parameters that add 1 to the inertia of one joint: its rotor's where the model
    has one, else ZZ_j or M_j.

    Each adds a positive semidefinite matrix to M(q), so that some of all of them makes any M
    positive definite.
    """
    column = model.layout.axis_inertia.copy()
    for k, each in enumerate(model.full.parameters):
        if each.kind is ParameterKind.ROTOR and each.coupling is None:
            column[each.joint] = k
    return np.ascontiguousarray(model.matrix[:, column].T)


def with_positive_inertia(
    model: BaseModel, parameters: Array, q: Array, previous: Array
) -> tuple[Array, int | None]:
    """Parameters with M(q) positive definite at the configurations q (K, n), and the joint that was
    worst, if any was.

    Where M is not positive definite, it is looked at in units of each joint's inertia J (at least
    1e-3 of the `previous` one) and the joints that move in its lowest direction are given inertia,
    in proportion, until the margin is reached.
    """
    samples = q[:: max(1, q.shape[0] // _SAMPLES)]
    if np.linalg.eigvalsh(model.inertia_matrix(samples, parameters)).min() > 0:
        return parameters, None
    inertia = largest_inertias(model, parameters, previous)
    unit = np.sqrt(np.outer(inertia, inertia))
    directions, worst = inertia_directions(model), None
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(model.inertia_matrix(samples, parameters) / unit)
        least = int(values[:, 0].argmin())
        lacks = MARGIN - float(values[least, 0])
        if lacks <= 1e-9:
            break
        worst = int(np.abs(vectors[least, :, 0]).argmax()) if worst is None else worst
        share = vectors[least, :, 0] ** 2
        parameters = parameters + lacks / (share @ share) * (share * inertia) @ directions
    return parameters, worst
