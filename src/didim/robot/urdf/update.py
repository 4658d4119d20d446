"""A user's own URDF with identified values: links, frames, meshes and names stay, inertias and
friction are replaced.

Links that are attached to a moving link by fixed joints, or by joints that were held, were
identified together with it: the moving link gets the sum, and the attached ones lose their
inertias, or these would count twice. Joints that were held become fixed joints at their position.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from didim.errors import InputError
from didim.reading import read_bytes
from didim.robot.armature import armature_note
from didim.robot.hold import JointChoice, held_placement
from didim.robot.robot import Robot
from didim.robot.same_geometry import same_geometry
from didim.robot.urdf.extension import TAG, write_robot_extension
from didim.robot.urdf.numbers import written
from didim.robot.urdf.read import bodies_of, read_urdf
from didim.robot.urdf.tree import parsed
from didim.robot.urdf.write import roll_pitch_yaw, write_dynamics, write_inertial
from didim.robot.xml_guard import put_comment

Element = ElementTree.Element


def updated_urdf(robot: Robot, source: Path) -> str:
    """The text of `source` with the values of `robot`, which must be of the same geometry and joint
    names.
    """
    root = parsed(read_bytes(source), source.name, comments=True)
    known = {joint.get("name") for joint in root.findall("joint")}
    if not known.issuperset((*robot.joint_names, *robot.locked)):
        raise _another(robot, source.name)
    choice = JointChoice(robot.joint_names, robot.locked)
    if not same_geometry(robot, read_urdf(source, choice)):
        raise _another(robot, source.name)
    _fix(root, robot, source.name)
    links = {link.get("name"): link for link in root.findall("link")}
    joints = root.findall("joint")
    for joint in robot.joints:
        element = next(each for each in joints if each.get("name") == joint.name)
        moved = _child(element)
        for name in (moved, *_fixed_to(moved, joints)):
            _remove(links[name], "inertial")
        write_inertial(links[moved], joint)
        for tag in ("dynamics", TAG, *(["mimic"] if joint.mimic is None else [])):
            _remove(element, tag)
        write_dynamics(element, joint)
    _remove(root, TAG)
    write_robot_extension(root, robot)
    root.set("name", robot.name)
    put_comment(root, armature_note(robot))
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" '
        f'encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
    )


def _fix(root: Element, robot: Robot, where: str) -> None:
    """Make the joints that were held fixed joints at their position."""
    elements = {joint.get("name"): joint for joint in root.findall("joint")}
    for body in bodies_of(root, where):
        if body.name not in robot.locked:
            continue
        element = elements[body.name]
        rotation, translation = held_placement(body, robot.locked[body.name])
        for tag in ("origin", "axis", "limit", "dynamics", "mimic", "safety_controller", TAG):
            _remove(element, tag)
        place = {"xyz": written(translation), "rpy": written(roll_pitch_yaw(rotation))}
        element.insert(0, ElementTree.Element("origin", place))
        element.set("type", "fixed")


def _child(joint: Element) -> str:
    child = joint.find("child")
    return "" if child is None else child.get("link", "")


def _fixed_to(link: str, joints: list[Element]) -> list[str]:
    """The links that are attached to a link by any number of fixed joints."""
    found: list[str] = []
    waiting = [link]
    while waiting:
        current = waiting.pop()
        for joint in joints:
            parent = joint.find("parent")
            if (
                joint.get("type") == "fixed"
                and parent is not None
                and parent.get("link") == current
            ):
                found.append(_child(joint))
                waiting.append(found[-1])
    return found


def _remove(element: Element, tag: str) -> None:
    for each in element.findall(tag):
        element.remove(each)


def _another(robot: Robot, where: str) -> InputError:
    """The error of a file that describes another robot."""
    return InputError(
        f"{where}: is not the URDF of the identified robot {robot.name!r}: joints or geometry "
        "differ."
    )
