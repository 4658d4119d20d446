"""Passive joints: joints without a motor, whose torque is zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from didim.errors import InputError, nearest, shortened
from didim.robot.robot import Robot


def with_passive(robot: Robot, names: Sequence[str] | None) -> Robot:
    """The robot with these joints passive, beside those that its file declares so."""
    if names is None:
        return robot
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"passive must be a list of joint names, found {shortened(names)}.")
    for name in names:
        if name not in robot.joint_names:
            raise InputError(
                f"passive: no joint that moves is called {name!r}; "
                f"{nearest(name, robot.joint_names)}"
            )
    joints = (replace(j, passive=True) if j.name in names else j for j in robot.joints)
    return replace(robot, joints=tuple(joints))
