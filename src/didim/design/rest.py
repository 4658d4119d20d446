"""A pose to rest in: every motion can be shrunk towards it until it meets its limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.design.clearance import Clearances
from didim.design.limits import Limits
from didim.dynamics.model import BaseModel
from didim.errors import InputError

Array = NDArray[np.float64]

POSES = 2000
"""Random poses that are tried."""

ENOUGH = 0.1
"""Clearance beyond which more does not make a pose better, m."""

INNER = 0.8
"""Fraction of the position range that random poses lie in."""


def rest_pose(
    model: BaseModel,
    parameters: Array,
    limits: Limits,
    clearances: Clearances | None,
    start: Array | None,
) -> Array:
    """(n,) the start where one is given, else a pose with room to all sides; refused where a limit
    is violated at rest.
    """
    middle, half = limits.position.mean(axis=1), 0.5 * np.diff(limits.position, axis=1)[:, 0]
    if start is None:
        random = np.random.default_rng(0).uniform(-INNER, INNER, (POSES, half.size))
        poses = middle + half * np.vstack([np.zeros(half.size), random])
    else:
        poses = start[None, :]
    names, room = _room(model, parameters, limits, clearances, poses)
    score = room.min(axis=1)
    best = int(score.argmax())
    if score[best] > 0:
        return poses[best]
    where = "No pose" if start is None else "The start does not meet the limits: it"
    worst = names[int(room[best].argmin())]
    tail = "rests" if start is None else "is not a pose that rests"
    raise InputError(
        f"{where} {tail} within the limits: {worst} is exceeded"
        + (" in the best of them." if start is None else ".")
    )


def _room(
    model: BaseModel,
    parameters: Array,
    limits: Limits,
    clearances: Clearances | None,
    poses: Array,
) -> tuple[list[str], Array]:
    """Names of the limits, and how far each pose (K, n) is from them, positive inside."""
    joints = model.robot.joint_names
    lower, upper = limits.position.T
    half, still = 0.5 * (upper - lower), np.zeros_like(poses)
    names = [f"the position of {name}" for name in joints]
    rooms = [np.minimum(poses - lower, upper - poses) / half]
    c = len(model.contacts)
    signs = (np.full((len(poses), c), sign) for sign in (-1.0, 1.0))
    torques = [model.inverse_dynamics(poses, still, still, parameters, each) for each in signs]
    limited = np.flatnonzero(np.isfinite(limits.torque))
    if limited.size:
        needed = np.maximum(*np.abs(torques))[:, limited]
        names += [f"the torque of {joints[j]} (gravity and friction)" for j in limited]
        rooms.append(1.0 - needed / limits.usable_torque[limited])
    if clearances is not None and clearances.names:
        names += list(clearances.names)
        rooms.append(np.minimum(clearances.distances(poses), ENOUGH) / ENOUGH)
    return names, np.hstack(rooms)
