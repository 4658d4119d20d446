"""A robot written as a new MJCF: one body for each moving link, in the axes of its joint's frame;
a servo for each joint whose gains are given, else a motor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from didim.errors import InputError
from didim.robot.inertia import about_centre
from didim.robot.robot import BASE, Joint, Robot
from didim.robot.simulator_values import ServoGains, simulator_values
from didim.robot.urdf.numbers import written
from didim.robot.urdf.write import link_names
from didim.robot.xml_guard import put_comment

STIFF_FRICTION = {"solreffriction": "0.004 1", "solimpfriction": "0.99 0.999 0.001"}
"""MuJoCo's friction as near to one that sticks as its usual step of 2 ms allows."""

FARTHEST = 1e6
"""rad or m: where MuJoCo's joint ends in a direction in which it has no limit."""


def robot_mjcf(robot: Robot, gains: Mapping[str, ServoGains] | None = None) -> str:
    """The text of the file, without shapes. What MJCF cannot express is left out: see
    `simulator_values.left_out`.
    """
    root = Element("mujoco", model=robot.name)
    put_comment(root, robot.reference)
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", gravity=written(robot.gravity))
    bodies = {BASE: SubElement(root, "worldbody")}
    names = link_names(robot)
    for j, joint in enumerate(robot.joints):
        bodies[j] = _body(bodies[joint.parent], joint, names[j])
    if followers := [joint for joint in robot.joints if joint.mimic is not None]:
        equality = SubElement(root, "equality")
        for joint in followers:
            assert joint.mimic is not None
            law = written((joint.mimic.offset, joint.mimic.ratio, 0.0, 0.0, 0.0))
            SubElement(equality, "joint", joint1=joint.name, joint2=joint.mimic.joint, polycoef=law)
    actuators = SubElement(root, "actuator")
    for joint in robot.coordinates:
        _actuator(actuators, joint, (gains or {}).get(joint.name))
    indent(root)
    return f"{tostring(root, encoding='unicode')}\n"


def _body(parent: Element, joint: Joint, name: str) -> Element:
    if not joint.link[9] > 0:
        raise InputError(
            f"The link of joint {joint.name!r} has the mass {joint.link[9]:g} kg, which MuJoCo "
            "does not allow; write a .toml file."
        )
    axes = written(joint.rotation[:, :2].T)
    body = SubElement(parent, "body", name=name, pos=written(joint.translation), xyaxes=axes)
    mass, centre, J = about_centre(joint.link)
    six = written([*np.diag(J), J[0, 1], J[0, 2], J[1, 2]])
    SubElement(body, "inertial", pos=written(centre), mass=written(mass), fullinertia=six)
    values = simulator_values(joint)
    element = SubElement(
        body,
        "joint",
        name=joint.name,
        type="slide" if joint.kind == "prismatic" else "hinge",
        axis="0 0 1",
        armature=written(values.armature),
        damping=written(values.damping),
        frictionloss=written(values.frictionloss),
    )
    element.attrib.update(STIFF_FRICTION)
    if any(map(math.isfinite, joint.position_limits)):
        element.set("range", written(np.clip(joint.position_limits, -FARTHEST, FARTHEST)))
    if values.stiffness:
        element.set("stiffness", written(values.stiffness))
        element.set("springref", written(values.springref))
    return body


def _actuator(parent: Element, joint: Joint, gains: ServoGains | None) -> None:
    settings = {"name": joint.name, "joint": joint.name}
    limit = joint.torque_limit if gains is None else min(gains.limit, joint.torque_limit)
    if math.isfinite(limit):
        settings["forcerange"] = written((-limit, limit))
    if gains is None:
        SubElement(parent, "motor", settings)
    else:
        SubElement(
            parent, "position", {**settings, "kp": written(gains.kp), "kv": written(gains.kv)}
        )
