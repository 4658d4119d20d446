"""A robot written as URDF: joints, limits, friction and inertias; what URDF cannot express goes
into <didim> elements.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.armature import armature_note
from didim.robot.inertia import about_centre, transformed
from didim.robot.robot import BASE, Joint, Robot
from didim.robot.simulator_values import simulator_values
from didim.robot.urdf.extension import write_joint_extension, write_robot_extension
from didim.robot.urdf.numbers import written
from didim.robot.urdf.read import UNLIMITED_POSITION
from didim.robot.xml_guard import put_comment

Array = NDArray[np.float64]


def robot_urdf(robot: Robot) -> str:
    """The text of the file, which `load_robot` reads back as the same robot. Links have the axes
    that they came with.
    """
    names = link_names(robot)
    root = Element("robot", name=robot.name)
    put_comment(root, armature_note(robot))
    SubElement(root, "link", name=names[BASE])
    for j, joint in enumerate(robot.joints):
        link = SubElement(root, "link", name=names[j])
        if not np.isnan(joint.link).any():
            write_inertial(link, joint)
        _write_joint(root, robot, joint, names[joint.parent], names[j])
    write_robot_extension(root, robot)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def link_names(robot: Robot) -> dict[int, str]:
    """A name for each joint's link and, under -1, for the base."""
    names = {j: f"{joint.name}_link" for j, joint in enumerate(robot.joints)}
    base = "base_link"
    while base in names.values():
        base += "_0"
    return {BASE: base, **names}


def write_inertial(link: Element, joint: Joint) -> None:
    """Put the inertia of a joint's link into its element, in the axes of the link."""
    if not joint.link[9] > 0:
        raise InputError(
            f"The link of joint {joint.name!r} has the mass {joint.link[9]:g} kg, which URDF does "
            "not allow; write a .toml file."
        )
    mass, centre, inertia = about_centre(
        transformed(joint.link, joint.link_frame[:3, :3], np.zeros(3))
    )
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "origin", xyz=written(centre), rpy="0 0 0")
    SubElement(inertial, "mass", value=written(mass))
    six = {f"i{'xyz'[a]}{'xyz'[b]}": written(inertia[a, b]) for a in range(3) for b in range(a, 3)}
    SubElement(inertial, "inertia", six)


def write_dynamics(element: Element, joint: Joint) -> None:
    """Put the friction of a joint into its element: the mean of both directions where they differ,
    none where negative.
    """
    values = simulator_values(joint)
    SubElement(
        element,
        "dynamics",
        damping=written(values.damping),
        friction=written(values.frictionloss),
    )
    write_joint_extension(element, joint)


def _write_joint(root: Element, robot: Robot, joint: Joint, parent: str, child: str) -> None:
    limited = any(map(math.isfinite, joint.position_limits))
    kind = joint.kind if limited or joint.kind == "prismatic" else "continuous"
    element = SubElement(root, "joint", name=joint.name, type=kind)
    before = np.eye(3) if joint.parent == BASE else robot.joints[joint.parent].link_frame[:3, :3]
    own = joint.link_frame[:3, :3]
    SubElement(
        element,
        "origin",
        xyz=written(before @ joint.translation),
        rpy=written(roll_pitch_yaw(before @ joint.rotation @ own.T)),
    )
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)
    SubElement(element, "axis", xyz=written(own[:, 2]))
    sides = (
        max(min(side, UNLIMITED_POSITION), -UNLIMITED_POSITION) for side in joint.position_limits
    )
    limits = dict(zip(("lower", "upper"), sides, strict=True)) if limited else {}
    limits |= {"effort": joint.torque_limit, "velocity": joint.velocity_limit}
    SubElement(
        element,
        "limit",
        {key: written(value if math.isfinite(value) else 0.0) for key, value in limits.items()},
    )
    if joint.mimic is not None:
        factors = {"multiplier": written(joint.mimic.ratio), "offset": written(joint.mimic.offset)}
        SubElement(element, "mimic", {"joint": joint.mimic.joint, **factors})
    write_dynamics(element, joint)


def roll_pitch_yaw(R: Array) -> Array:
    """(3,) angles with R = Rz(yaw) Ry(pitch) Rx(roll), exact also where the pitch is a right angle
    and yaw is arbitrary.
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    cos, sin = math.cos(yaw), math.sin(yaw)
    turned = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]) @ R
    return np.array(
        [math.atan2(-turned[1, 2], turned[1, 1]), math.atan2(-turned[2, 0], turned[0, 0]), yaw]
    )
