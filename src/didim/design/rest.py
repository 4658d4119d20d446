"""A pose to rest in: every motion can be shrunk towards it until it meets its limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from didim.design.capsules import GIVE_SHAPES
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
    saturation: Array,
    clearances: Clearances | None,
    start: Array | None,
) -> Array:
    """(n,) the start where one is given, else a pose with room to all sides; refused where a limit
    is violated at rest, or a torque that a controller can give at most, `saturation` (n,).
    """
    middle, half = limits.position.mean(axis=1), 0.5 * np.diff(limits.position, axis=1)[:, 0]
    if start is None:
        random = np.random.default_rng(0).uniform(-INNER, INNER, (POSES, half.size))
        poses = middle + half * np.vstack([np.zeros(half.size), random])
    else:
        poses = start[None, :]
    found = [
        _positions(limits, poses, model.robot.joint_names),
        *_torques(model, parameters, limits, saturation, poses),
        *_clear(clearances, poses),
    ]
    room = np.hstack([each.room for each in found])
    score = room.min(axis=1)
    best = int(score.argmax())
    if score[best] > 0:
        return poses[best]
    worst = int(room[best].argmin())
    before, after = [text for each in found for text in each.texts][worst]
    amount = np.hstack([each.amounts for each in found])[best, worst]
    problem = f"{before} {amount:.4g} {after}"
    if start is None:
        raise InputError(f"No pose rests within the limits; in the best of them {problem}.")
    raise InputError(f"The start is not within the limits: {problem}. Choose another start.")


_LESS_RESERVE = "(its torque limit less the reserve)"


class _Room(NamedTuple):
    """Some limits at K poses."""

    texts: list[tuple[str, str]]
    """What is said of each limit that is not met, before and after its amount."""
    amounts: Array
    """(K, limits)."""
    room: Array
    """(K, limits) how far a pose is from each, positive inside."""


def _positions(limits: Limits, poses: Array, joints: tuple[str, ...]) -> _Room:
    lower, upper = limits.position.T
    room = np.minimum(poses - lower, upper - poses) / (0.5 * (upper - lower))
    pairs = zip(joints, limits.position, strict=True)
    texts = [
        (f"{name} is at", f"and must lie inside [{low:.4g}, {high:.4g}] with room to move")
        for name, (low, high) in pairs
    ]
    return _Room(texts, poses, room)


def _torques(
    model: BaseModel, parameters: Array, limits: Limits, saturation: Array, poses: Array
) -> list[_Room]:
    """Against gravity and friction, where there is a limit."""
    most_of_all = np.minimum(limits.usable_torque, saturation)
    limited, still = np.flatnonzero(np.isfinite(most_of_all)), np.zeros_like(poses)
    if not limited.size:
        return []
    signs = (np.full((len(poses), len(model.contacts)), sign) for sign in (-1.0, 1.0))
    both = [model.inverse_dynamics(poses, still, still, parameters, each) for each in signs]
    needed, usable = np.maximum(*np.abs(both))[:, limited], most_of_all[limited]
    texts = [
        (
            f"{model.robot.joint_names[j]} needs",
            f"N.m (or N) against gravity and friction, and {most:.4g} are usable "
            + ("(its controller saturates)" if most == saturation[j] else _LESS_RESERVE),
        )
        for j, most in zip(limited, usable, strict=True)
    ]
    return [_Room(texts, needed, 1.0 - needed / usable)]


def _clear(clearances: Clearances | None, poses: Array) -> list[_Room]:
    if clearances is None or not clearances.names:
        return []
    distance = clearances.distances(poses)
    texts = [
        (f"{name} is closer than allowed by", f"m{_guess(clearances, k)}")
        for k, name in enumerate(clearances.names)
    ]
    return [_Room(texts, -distance, np.minimum(distance, ENOUGH) / ENOUGH)]


def _guess(clearances: Clearances, column: int) -> str:
    """What to know of a distance that rests on a guessed shape."""
    guessed = clearances.guessed(column)
    if not guessed:
        return ""
    labels = " and ".join(link.label for link in guessed)
    radius = max(capsule.radius for link in guessed for capsule in link.capsules)
    return f" (the radius of {labels}, {radius:.3g} m, is a guess; {GIVE_SHAPES})"
