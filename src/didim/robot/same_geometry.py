"""Whether two descriptions are of one robot."""

from __future__ import annotations

import numpy as np

from didim.robot.robot import Robot


def same_geometry(one: Robot, other: Robot) -> bool:
    """Whether both have the same joints at the same places."""
    return len(one.joints) == len(other.joints) and all(
        a.name == b.name
        and a.kind == b.kind
        and a.mimic == b.mimic
        and a.parent == b.parent
        and np.allclose(a.rotation, b.rotation, atol=1e-9)
        and np.allclose(a.translation, b.translation, atol=1e-9)
        for a, b in zip(one.joints, other.joints, strict=False)
    )
