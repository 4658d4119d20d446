"""What a record cannot identify: joints that do not move, parameters that are confounded."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.regression.least_squares import Solution
from didim.regression.system import LinearSystem
from didim.robot.labels import joint_label
from didim.signals.states import MIN_TRAVEL

Array = NDArray[np.float64]


def stationary_joints(model: BaseModel, motions: Iterable[Array]) -> list[str]:
    """The joints that never move in any of the motions (N, n), as findings."""
    still = np.all([np.ptp(q, axis=0) < MIN_TRAVEL for q in motions], axis=0)
    return [f"{joint_label(model.robot, int(j))} never moves" for j in np.flatnonzero(still)]


def confounded(system: LinearSystem, solution: Solution) -> list[str]:
    """Names of the unknowns that the equations do not determine one by one."""
    pairs = zip(system.names, solution.confounded, strict=True)
    return [name for name, is_hidden in pairs if is_hidden]


def unidentifiable(
    model: BaseModel, system: LinearSystem, solution: Solution, motions: Iterable[Array]
) -> list[str]:
    """Joints without motion or equations, and confounded parameters, as findings."""
    found = stationary_joints(model, motions)
    empty = np.flatnonzero(np.bincount(system.joint, minlength=system.n) == 0) % model.robot.n
    found += [
        f"no equation of {joint_label(model.robot, int(j))} remains (rest_velocity?)"
        for j in np.unique(empty)
        if model.robot.driven[j]
    ]
    if hidden := confounded(system, solution):
        found.append(f"the motion does not identify {', '.join(hidden)} separately")
    return found
