"""What joints that follow others leave of the limits of the joint that they follow: where joint k
is at ratio q + offset, q stays within (its limits - offset) / ratio, and dq below its velocity
limit over |ratio|.

A torque limit of such a joint is none of the joint that it follows: it has no motor of its own, and
the model has the torque of that joint's motor alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.robot import Robot

Array = NDArray[np.float64]


def position_within(bounds: Array, robot: Robot) -> Array:
    """(n, 2) the part of a range of positions in which every joint that follows another one stays
    within its own limits; refused where there is none.
    """
    found = np.array(bounds, dtype=np.float64)
    for joint in robot.joints:
        if (mimic := joint.mimic) is None:
            continue
        j = robot.joint_names.index(mimic.joint)
        low, high = np.sort((np.array(joint.position_limits) - mimic.offset) / mimic.ratio)
        left = max(low, found[j, 0]), min(high, found[j, 1])
        if not left[0] < left[1]:
            raise InputError(
                f"Limits: {joint.name} follows {mimic.joint} and stays within its own position "
                f"limits where {mimic.joint} is in [{low:.4g}, {high:.4g}]; nothing of "
                f"[{found[j, 0]:.4g}, {found[j, 1]:.4g}] is left."
            )
        found[j] = left
    return found


def velocity_within(limits: Array, robot: Robot) -> Array:
    """(n,) velocity limits at which every joint that follows another one stays within its own."""
    found = np.array(limits, dtype=np.float64)
    for joint in robot.joints:
        if (mimic := joint.mimic) is not None:
            j = robot.joint_names.index(mimic.joint)
            found[j] = min(found[j], joint.velocity_limit / abs(mimic.ratio))
    return found
