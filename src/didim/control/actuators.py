"""`load_controller`: the loop that the actuators of an MJCF file are.

A position servo has the force kp (u - l) - kv dl/dt and a velocity servo kv (u - dl/dt), with the
length l = gear q of one joint. With the reference gear q_r, or gear dq_r, for the control u, this
is the law (53) in the units of the force: kp / kv, kv gear, and the drive gain gear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from didim.control.laws import PD
from didim.errors import InputError, shortened
from didim.reading import read_bytes
from didim.robot.hold import JointChoice, joint_choice
from didim.robot.mjcf.actuators import MOTOR, POSITION, VELOCITY, Actuator, actuators_of
from didim.robot.mjcf.compile import compiled
from didim.robot.mjcf.read import robot_of
from didim.robot.mjcf.tree import is_mjcf, read_tree
from didim.robot.robot import Robot

DERIVATIVE_TIME = 1e-9
"""s: kv / kp of a position servo that has no kv, and, in 1/s, kp of a velocity servo; the law needs
both, and what this adds is far below any friction.
"""


def load_controller(
    source: str | PathLike[str],
    joints: Sequence[str] | None = None,
    lock: Mapping[str, float] | None = None,
) -> PD:
    """The loop of the position and velocity actuators of an MJCF file, for the joints that
    `load_robot` gives with the same arguments. It is continuous; the reference is one of joint
    positions.

    Parameters
    ----------
    source
        The .xml file.
    joints, lock
        As of `load_robot`; actuators of held joints are left out.
    """
    if not isinstance(source, str | PathLike) or isinstance(source, bytes):
        raise InputError(f"load_controller takes a path, found {shortened(source)}.")
    path = Path(source)
    if not path.is_file():
        raise InputError(f"{shortened(str(source), 200)}: no such file.")
    loop = actuated_loop(path, joint_choice(joints, lock))
    if loop.lacks:
        raise InputError(loop.lacks)
    return PD(**loop.settings)


@dataclass(frozen=True)
class ActuatedLoop:
    """What the actuators of an MJCF file say of the loop of its joints."""

    settings: Mapping[str, Any]
    """Of a `PD`; where all joints have motors, drive gain and saturation only."""
    lacks: str = ""
    """Why these are not a whole loop, in a line; empty where they are."""


def loop_of_robot_file(
    source: str,
    joints: Sequence[str] | None = None,
    lock: Mapping[str, float] | None = None,
) -> ActuatedLoop | None:
    """The loop of a robot that `load_robot` reads; None where its format has no actuators."""
    path = Path(source)
    endings = (".xml", ".mjcf")
    if path.suffix.lower() not in endings or not is_mjcf(read_bytes(path), path.name):
        return None
    return actuated_loop(path, joint_choice(joints, lock))


def actuated_loop(path: Path, choice: JointChoice) -> ActuatedLoop:
    """The loop of an MJCF file, as far as its actuators say it."""
    model = compiled(read_tree(path))
    robot = robot_of(model, path, choice)
    try:
        actuators = actuators_of(model, robot, path.name)
        driven = _by_joint(actuators, robot, path.name)
        if all(len(own) == 1 and own[0].kind == MOTOR for own in driven):
            settings = motor_settings([own[0] for own in driven])
            known = ", ".join(["kp=..., kv=...", *(f"{k}={v}" for k, v in settings.items())])
            return ActuatedLoop(
                settings,
                f"{path.name}: the joints are driven by motors, whose law runs outside the file; "
                f"describe it, for example didim.PD({known}), or [controller] in a study.",
            )
        return ActuatedLoop(loop_settings(driven, path.name))
    except InputError as problem:
        return ActuatedLoop({}, str(problem))


def loop_settings(driven: Sequence[tuple[Actuator, ...]], where: str) -> dict[str, Any]:
    """The settings of the `PD` that the servos of each joint are."""
    if motors := [one for each in driven for one in each if one.kind == MOTOR]:
        raise InputError(
            f"{where}: the joint {motors[0].joint!r} is driven by the motor {motors[0].name!r}, "
            "whose law runs outside the file, and others by servos; describe the loop: "
            "didim.PD(...), or [controller] in a study."
        )
    laws = [_joint_law(each, where) for each in driven]
    settings: dict[str, Any] = {
        "kp": [law["kp"] for law in laws],
        "kv": [law["kv"] for law in laws],
    }
    if any(law["ff"] for law in laws):
        settings["velocity_reference"] = [law["ff"] for law in laws]
    return settings | _drive([law["gear"] for law in laws], [law["limit"] for law in laws])


def motor_settings(motors: Sequence[Actuator]) -> dict[str, Any]:
    """Drive gain and saturation of motors, in the units of their controls."""
    gears = [motor.gear * motor.gain for motor in motors]
    return _drive(gears, [motor.limit / motor.gain for motor in motors])


def _drive(gears: Sequence[float], limits: Sequence[float]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if any(gear != 1.0 for gear in gears):
        settings["drive_gain"] = list(gears)
    if np.isfinite(limits).any():
        settings["saturation"] = list(limits)
    return settings


def _by_joint(
    actuators: Sequence[Actuator], robot: Robot, where: str
) -> list[tuple[Actuator, ...]]:
    """The actuators of each coordinate; one that has none is refused."""
    driven = [tuple(each for each in actuators if each.joint == name) for name in robot.joint_names]
    for name, own in zip(robot.joint_names, driven, strict=True):
        if not own:
            none = "there are no actuators" if not actuators else f"joint {name!r} has no actuator"
            raise InputError(
                f"{where}: {none}, so that the file says no loop; add <position> or <velocity> "
                f"actuators, hold the joint (lock = {{ {name} = 0.0 }}), or describe the loop: "
                "didim.PD(...), or [controller] in a study."
            )
    return driven


def _joint_law(own: Sequence[Actuator], where: str) -> dict[str, float]:
    """kp, kv, ff, gear and limit of one joint: of one servo, or of a position and a velocity servo
    that act together.
    """
    first = own[0]
    if len(own) == 1:
        if first.kind == POSITION:
            kv = first.kv or first.kp * DERIVATIVE_TIME
            return _law(first.kp / kv, kv, 0.0, first)
        return _law(DERIVATIVE_TIME, first.kv, 1.0, first)
    together = {each.kind for each in own} == {POSITION, VELOCITY} and len(own) == 2
    if not together or any(np.isfinite(each.limit) or each.gear != first.gear for each in own):
        names = ", ".join(repr(each.name) for each in own)
        raise InputError(
            f"{where}: the joint {first.joint!r} has {len(own)} actuators ({names}); only one, or "
            "a <position> and a <velocity> of the same gear without forcerange, can be said as one "
            "loop."
        )
    position, velocity = sorted(own, key=lambda each: each.kind)
    kv = position.kv + velocity.kv
    return _law(position.kp / kv, kv, velocity.kv / kv, first)


def _law(kp: float, kv: float, ff: float, actuator: Actuator) -> dict[str, float]:
    return {
        "kp": kp,
        "kv": kv * actuator.gear,
        "ff": ff,
        "gear": actuator.gear,
        "limit": actuator.limit,
    }
