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
from didim.regression.statistics import Statistics
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]
Observe = Callable[[BaseModel, Array], LinearSystem]
"""The equations of a model, with the loads that parameters chi (b,) mean."""
Slopes = Callable[[BaseModel, Array], Array]
"""(r, T) how the torque of these equations changes with the shapes, at chi (b,)."""

MAX_STEPS = 30
MAX_HALVINGS = 8
MAX_LOAD_STEPS = 40
LOAD_TOLERANCE = 1e-11
"""Relative change of the torque that counts as none."""
SHAPE_TOLERANCE = 1e-8
"""Change of a shape, as `Shapes` scales it, that counts as none."""
SMALL_FALL = 1e-6
"""Relative fall of the error that counts as none."""


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

    def shapes(self, figures: Statistics) -> dict[str, tuple[float, float]]:
        """The shapes that were found with their sigma, from the statistics of `system`."""
        found, b = self.model.free_shapes, len(self.linear.names)
        sigma = np.sqrt(np.maximum(np.diag(figures.corrected), 0.0))[b:]
        pairs = zip(found.items(), sigma, strict=False)
        return {name: (value, float(s)) for (name, value), s in pairs}


def project(
    model: BaseModel, first: LinearSystem, observe: Observe, slopes: Slopes, weights: str
) -> Projection:
    """The parameters and shapes that fit the equations best, from the model's own shapes; `first`
    are the equations without loads.
    """
    shapes, z = Shapes(model), np.zeros(len(model.layout.terms.free))
    system, solution = _settled(model, first, fit(first, weights), observe, weights)
    for _ in range(MAX_STEPS if shapes.names else 0):
        error = float(np.linalg.norm(solution.row_weights * system.residual(solution.values)))
        by_z = slopes(shapes.model(z), solution.values) * shapes.slopes(z)
        joint = fit(_with_columns(system, by_z, z, shapes.names), weights)
        step = joint.values[solution.values.size :] - z
        step = np.clip(step, -shapes.longest_step, shapes.longest_step)
        found = _search(shapes, z, step, observe, weights, solution, error)
        if found is None:
            break
        z, system, solution = found.z, found.system, found.solution
        if found.size <= SHAPE_TOLERANCE or found.error > (1.0 - SMALL_FALL) * error:
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
        if change <= LOAD_TOLERANCE * np.linalg.norm(system.y):
            break
    return system, solution


def _with_columns(
    system: LinearSystem, J: Array, values: Array, names: tuple[str, ...]
) -> LinearSystem:
    """The system with columns J (r, T) for further unknowns, linearised at their values (T,)."""
    W, y = np.column_stack([system.W, J]), system.y + J @ values
    affine = None if system.affine is None else system.affine.with_further(len(names))
    return replace(system, W=W, y=y, names=(*system.names, *names), affine=affine)


@dataclass(frozen=True, eq=False)
class _Step:
    """An accepted step of the shapes."""

    z: Array
    system: LinearSystem
    solution: Solution
    error: float
    size: float


def _search(
    shapes: Shapes,
    z: Array,
    step: Array,
    observe: Observe,
    weights: str,
    solution: Solution,
    error: float,
) -> _Step | None:
    """The first of ever shorter steps that lowers what chi leaves; None: none does."""
    for halvings in range(MAX_HALVINGS):
        trial = z + 0.5**halvings * step
        model = shapes.model(trial)
        system = observe(model, solution.values)
        system, found = _settled(model, system, fit(system, weights), observe, weights)
        left = float(np.linalg.norm(solution.row_weights * system.residual(found.values)))
        if left < error:
            return _Step(trial, system, found, left, float(np.abs(trial - z).max(initial=0.0)))
    return None
