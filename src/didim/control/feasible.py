"""The nearest parameters with a positive definite inertia matrix M(q)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import ParameterKind

Array = NDArray[np.float64]

INERTIA_MARGIN = 0.05
"""Smallest eigenvalue, in units of the joints' own inertias, that a corrected M(q) has."""

_ROUNDS = 20
_SAMPLES = 200
"""Configurations at which the inertia matrix is looked at."""


def inertia_directions(model: BaseModel) -> Array:
    """(n, b) base parameters that add 1 to the inertia of one joint: its rotor's where the model
    has one, else ZZ_j or M_j.

    Each adds a positive semidefinite matrix to M(q): enough of them makes M positive definite.
    Those that known parameters forbid are zero.
    """
    n = model.robot.n
    column = model.layout.axis_inertia[:n].copy()
    for k, each in enumerate(model.full.parameters):
        if each.kind is ParameterKind.ROTOR and each.coupling is None and each.joint < n:
            column[each.joint] = k
    directions = np.ascontiguousarray(model.matrix[:, column].T)
    if model.affine is not None:
        directions[~model.affine.contains(directions)] = 0.0
    return directions


def with_positive_inertia(
    model: BaseModel, parameters: Array, q: Array, previous: Array | None
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
        lacking = INERTIA_MARGIN - float(values[least, 0])
        if lacking <= 1e-9:
            break
        worst = int(np.abs(vectors[least, :, 0]).argmax()) if worst is None else worst
        parts = vectors[least, :, 0] ** 2
        parameters = parameters + lacking / (parts @ parts) * (parts * inertia) @ directions
    return parameters, worst
