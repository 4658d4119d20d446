"""Variable projection: tau = W(theta, load) chi, where friction depends on shapes theta that it is
not linear in, or on the loads of the joints.

For given shapes and loads, chi is a linear least squares solution. The shapes follow by
Gauss-Newton on what that leaves (Golub and Pereyra 1973, in Kaufman's form), the loads from chi,
until neither changes. Models without either need one linear solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.dynamics.shapes import Shapes
from didim.regression.least_squares import Solution, fit
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]
Observe = Callable[[BaseModel, Array], LinearSystem]
"""The equations of a model, with the loads that parameters chi (b,) mean."""
Slopes = Callable[[BaseModel, Array], Array]
"""(r, T) how the torque of these equations changes with the shapes, at chi (b,)."""

MAX_STEPS = 50
MAX_LOAD_STEPS = 100
TOLERANCE = 1e-10
"""Relative change of the torque, or of a shape in units of its own step, that counts as none."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Where variable projection ended."""

    model: BaseModel
    """With the shapes that were found."""
    linear: LinearSystem
    """Y = W chi + rho at these shapes and loads."""
    system: LinearSystem
    """Y + J theta = [W J] (chi, theta) + rho: the same with the shapes as unknowns."""
    solution: Solution
    """Of `system`."""


def project(
    model: BaseModel, first: LinearSystem, observe: Observe, slopes: Slopes, weights: str
) -> Projection:
    """The parameters and shapes that fit the equations best, from the model's own shapes; `first`
    are the equations without loads.
    """
    shapes, z = Shapes(model), np.zeros(len(model.layout.terms.free))
    system, solution = _settled(model, first, fit(first, weights), observe, weights)
    for _ in range(MAX_STEPS if shapes.names else 0):
        by_z = slopes(shapes.model(z), solution.values) * shapes.slopes(z)
        joint = fit(_with_columns(system, by_z, z, shapes.names), weights)
        step = joint.values[solution.values.size :] - z
        step = np.clip(step, -shapes.longest_step, shapes.longest_step)
        found = _search(shapes, z, step, observe, weights, system, solution)
        if found is None:
            break
        z, system, solution, size = found
        if size <= TOLERANCE:
            break
    now = shapes.model(z)
    if not shapes.names:
        return Projection(now, system, system, solution)
    joint_system = _with_columns(
        system, slopes(now, solution.values), shapes.values(z), shapes.names
    )
    return Projection(now, system, joint_system, fit(joint_system, weights))


def _settled(
    model: BaseModel, system: LinearSystem, solution: Solution, observe: Observe, weights: str
) -> tuple[LinearSystem, Solution]:
    """chi for given shapes, once the loads that it means change no more."""
    for _ in range(MAX_LOAD_STEPS if model.loaded else 0):
        before = system.W @ solution.values
        system = observe(model, solution.values)
        solution = fit(system, weights)
        change = np.linalg.norm(system.W @ solution.values - before)
        if change <= TOLERANCE * np.linalg.norm(system.y):
            break
    return system, solution


def _with_columns(
    system: LinearSystem, J: Array, values: Array, names: tuple[str, ...]
) -> LinearSystem:
    """The system with columns J (r, T) for further unknowns, linearised at their values (T,)."""
    W, y = np.column_stack([system.W, J]), system.y + J @ values
    affine = None if system.affine is None else system.affine.with_further(len(names))
    return replace(system, W=W, y=y, names=(*system.names, *names), affine=affine)


def _search(
    shapes: Shapes,
    z: Array,
    step: Array,
    observe: Observe,
    weights: str,
    system: LinearSystem,
    solution: Solution,
) -> tuple[Array, LinearSystem, Solution, float] | None:
    """The first of ever shorter steps that lowers what chi leaves; None: none does."""
    row_weights = solution.row_weights
    before = np.linalg.norm(row_weights * system.residual(solution.values))
    for halvings in range(12):
        trial = z + 0.5**halvings * step
        model = shapes.model(trial)
        found = observe(model, solution.values)
        found, chi = _settled(model, found, fit(found, weights), observe, weights)
        if np.linalg.norm(row_weights * found.residual(chi.values)) < before:
            size = float(np.abs(trial - z).max(initial=0.0))
            return trial, found, chi, size
    return None
