"""Joints that follow another one: q_k = ratio q_i + offset, as the `<mimic>` of a URDF says.

A joint that follows is a joint of the tree, with a link and effects of its own, but no coordinate:
where T maps the coordinates to all joints, the torques are T' tau and the inertia matrix is T' M T.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from didim.errors import InputError, nearest

if TYPE_CHECKING:
    from didim.robot.robot import Joint


@dataclass(frozen=True)
class Mimic:
    """What a joint follows: q = ratio q_joint + offset."""

    joint: str
    """Name of the joint that it follows."""
    ratio: float = 1.0
    """rad or m per rad or m."""
    offset: float = 0.0
    """rad or m."""


def resolved(mimics: Mapping[str, Mimic], name: str, where: str) -> Mimic:
    """What a joint of `mimics` follows in the end, the joint that follows none: a chain of joints
    that follow each other is one ratio and one offset.
    """
    ratio, offset, chain = 1.0, 0.0, [name]
    while chain[-1] in mimics:
        step = mimics[chain[-1]]
        offset, ratio = ratio * step.offset + offset, ratio * step.ratio
        if step.joint in chain:
            raise InputError(
                f"{where}, joint {name!r}: joints follow each other in a circle: "
                f"{' -> '.join([*chain, step.joint])}; remove one <mimic>, or hold one of them "
                f"(lock = {{ {step.joint} = 0.0 }})."
            )
        chain.append(step.joint)
    return Mimic(chain[-1], ratio, offset)


def check_mimics(joints: Sequence[Joint], where: str) -> None:
    """Refuse joints that follow what is no coordinate of the robot."""
    free = [joint.name for joint in joints if joint.mimic is None]
    for joint in joints:
        if (mimic := joint.mimic) is None:
            continue
        place = f"{where}, joint {joint.name!r}"
        if mimic.joint not in free:
            raise InputError(
                f"{place}: follows {mimic.joint!r}, which must be a joint that moves and follows "
                f"no other; {nearest(mimic.joint, free)}"
            )
        if not np.isfinite([mimic.ratio, mimic.offset]).all() or mimic.ratio == 0:
            raise InputError(
                f"{place}: ratio and offset must be finite and the ratio not zero, found "
                f"{mimic.ratio} and {mimic.offset}; a joint with ratio 0 is a fixed joint."
            )
