"""The inertia J_j that a joint's loop is tuned for: the largest M_jj over the joint range (51),
found numerically.

Along one revolute coordinate M_jj is a trigonometric polynomial of degree two, so five samples give
it exactly; along a prismatic one it is a parabola that opens upward, largest at an end; where
joints follow others, neither holds and a grid is searched. Coordinates
are maximised one after the other until nothing changes, from the best of a fixed set of starting
points: deterministic, and cheap enough for every iteration (59).
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.halton import halton
from didim.dynamics.kernels.direct import inertia_matrix_batch
from didim.dynamics.torque import TorqueModel
from didim.dynamics.tree_memory import TreeMemory, work_of
from didim.validation import per_joint, vector

Array = NDArray[np.float64]

_START_COUNT = 64
_STARTS_PER_JOINT = 4
_MAX_SWEEPS = 12
_GRID_POINTS = 145
_FIT_ANGLES = 2 * np.pi * np.arange(5) / 5


def _harmonics(q: Array) -> Array:
    return np.stack([np.ones_like(q), np.cos(q), np.sin(q), np.cos(2 * q), np.sin(2 * q)], axis=-1)


_FIT_MATRIX = np.linalg.inv(_harmonics(_FIT_ANGLES))


def largest_inertias(
    model: TorqueModel, parameters: ArrayLike, previous: Array | None = None
) -> Array:
    """J_j = max over q of M_jj(q) (n,), eq. 51; never below 1e-3 of `previous`, where given (an
    iterate may have J <= 0).

    Implements (51).
    """
    J, _ = _largest(model, parameters)
    return (
        J
        if previous is None
        else np.maximum(J, 1e-3 * per_joint(previous, "previous", model.robot.n))
    )


def inertia_slopes(model: TorqueModel, parameters: ArrayLike) -> tuple[Array, Array]:
    """J (n,) of (51) and how it changes with the parameters (n, p): M_jj, linear in them, at the
    pose where it is largest.
    """
    J, poses = _largest(model, parameters)
    units = np.eye(np.size(parameters))
    return J, np.array(
        [
            np.diagonal(model.inertia_matrix(poses, unit), axis1=1, axis2=2).diagonal()
            for unit in units
        ]
    ).T


def _largest(model: TorqueModel, parameters: ArrayLike) -> tuple[Array, Array]:
    """J (n,), and for each joint the pose (n, n) at which it is reached."""
    values = vector(parameters, "parameters", model.parameter_names)
    J, poses = _searched(model, values.tobytes())
    return J.copy(), poses.copy()


@lru_cache(maxsize=16)
def _searched(model: TorqueModel, parameters: bytes) -> tuple[Array, Array]:
    """The search, which the last points of an iteration ask for several times each."""
    n, inertia = model.robot.n, _Inertia(model, np.frombuffer(parameters))
    lower, upper = joint_ranges(model)
    points = lower + (upper - lower) * _start_points(n)
    order = np.argsort(-inertia.diagonals(points), axis=0, kind="stable")[:_STARTS_PER_JOINT]
    best, joints = points[order.T.ravel()], np.repeat(np.arange(n), _STARTS_PER_JOINT)
    rows = np.arange(joints.size)
    moved = [np.flatnonzero(np.isin(joints, _depend_on(model, k))) for k in range(n)]
    largest = inertia.diagonals(best)[rows, joints]
    for _ in range(_MAX_SWEEPS):
        before = largest
        for k, each in enumerate(moved):
            if each.size:
                found = _maximise(inertia, best[each], joints[each], k, lower[k], upper[k])
                best[each, k] = found
        largest = inertia.diagonals(best)[rows, joints]
        if np.all(np.abs(largest - before) <= 1e-9 * np.abs(largest)):
            break
    first = largest.reshape(n, _STARTS_PER_JOINT).argmax(axis=1) + _STARTS_PER_JOINT * np.arange(n)
    return largest[first], best[first]


@cache
def _start_points(n: int) -> Array:
    """(s, n) points of the unit cube from which the search starts."""
    return halton(n, _START_COUNT)


class _Inertia:
    """M(q) of one parameter vector, which is sorted for the kernels only once."""

    def __init__(self, model: TorqueModel, parameters: ArrayLike) -> None:
        self.model, self.values = model, model.values(parameters)
        self.work, self.memory = work_of(model.layout), TreeMemory(model.layout)

    def diagonals(self, q: Array) -> Array:
        """M_jj (m, n) at the rows of q (m, n)."""
        M = np.empty((*q.shape, q.shape[1]))
        tree = self.memory.on(self.model.tree)
        inertia_matrix_batch(tree, self.values, np.ascontiguousarray(q), self.work, M)
        return np.diagonal(M, axis1=1, axis2=2)

    def along(self, points: Array, joints: NDArray[np.intp], k: int, candidates: Array) -> Array:
        """M_jj (m, c) of joint j = joints[i] at row i of `points`, with coordinate k set to each of
        the c candidates.
        """
        m, c = len(joints), candidates.size
        q = np.repeat(points, c, axis=0)
        q[:, k] = np.tile(candidates, m)
        return self.diagonals(q).reshape(m, c, -1)[np.arange(m), :, joints]


def joint_ranges(model: TorqueModel) -> tuple[Array, Array]:
    """Lower and upper positions (n,): the limits, or +-pi (revolute) and +-1 m (prismatic) where
    there is none.
    """
    reach = np.array(
        [1.0 if joint.kind == "prismatic" else np.pi for joint in model.robot.coordinates]
    )
    lower, upper = model.robot.position_limits.T
    return np.where(np.isfinite(lower), lower, -reach), np.where(np.isfinite(upper), upper, reach)


def _depend_on(model: TorqueModel, k: int) -> list[int]:
    """The coordinates whose inertia depends on q_k: those of the joints between the base and joint
    k; all, where joints follow others.
    """
    if model.layout.tied is not None:
        return list(range(model.robot.n))
    found, joints = [], model.robot.joints
    while (k := joints[k].parent) >= 0:
        found.append(k)
    return found


def _maximise(
    inertia: _Inertia, points: Array, joints: NDArray[np.intp], k: int, lower: float, upper: float
) -> Array:
    """Best value of coordinate k for each of the joints j, each from its own point (m, n): row i
    maximises M_jj.
    """
    if inertia.model.layout.tied is not None:
        return _best_of_grid(inertia, points, joints, k, lower, upper)
    if inertia.model.robot.joints[k].kind == "prismatic":
        ends = np.array([lower, upper])
        return ends[inertia.along(points, joints, k, ends).argmax(axis=1)]
    coefficients = _FIT_MATRIX @ inertia.along(points, joints, k, _FIT_ANGLES).T
    grid, harmonics = _grid(lower, upper)
    start = grid[(harmonics @ coefficients).argmax(axis=0)]
    return np.minimum(np.maximum(_newton(start, coefficients), lower), upper)


def _best_of_grid(
    inertia: _Inertia, points: Array, joints: NDArray[np.intp], k: int, lower: float, upper: float
) -> Array:
    """As `_maximise` where joints follow others by any ratio: the best of a grid, refined by the
    parabola through it and its neighbours.
    """
    grid, _ = _grid(lower, upper)
    values = inertia.along(points, joints, k, grid)
    at = np.clip(values.argmax(axis=1), 1, grid.size - 2)
    before, here, after = (values[np.arange(at.size), at + shift] for shift in (-1, 0, 1))
    curve = before - 2 * here + after
    step = np.where(curve < 0, 0.5 * (before - after) / np.where(curve < 0, curve, 1.0), 0.0)
    inside = (here >= before) & (here >= after)
    ends = np.where(before > after, grid[at - 1], grid[at + 1])
    return np.where(inside, grid[at] + step * (grid[1] - grid[0]), ends)


@cache
def _grid(lower: float, upper: float) -> tuple[Array, Array]:
    """Positions of a joint range (g,) and their harmonics (g, 5)."""
    grid = np.linspace(lower, upper, _GRID_POINTS)
    return grid, _harmonics(grid)


def _newton(q: Array, c: Array) -> Array:
    """Newton steps from the best grid point to the maximum of each polynomial, where it curves
    downward.
    """
    for _ in range(3):
        sin, cos, sin_2, cos_2 = np.sin(q), np.cos(q), np.sin(2 * q), np.cos(2 * q)
        slope = -c[1] * sin + c[2] * cos - 2 * c[3] * sin_2 + 2 * c[4] * cos_2
        curve = -c[1] * cos - c[2] * sin - 4 * c[3] * cos_2 - 4 * c[4] * sin_2
        down = curve < 0
        step = np.minimum(np.maximum(slope / np.where(down, curve, -1.0), -0.05), 0.05)
        q = q - np.where(down, step, 0.0)
    return q
