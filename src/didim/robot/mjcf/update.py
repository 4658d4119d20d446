"""A user's own MJCF with identified values: its elements, classes, comments and formatting stay;
inertias, armature, damping, friction loss, springs and, where they were identified, gains of
servos are replaced. Included files become part of the written one.

MuJoCo's own writer rounds every number of the file to six digits and drops its comments, so that
the XML itself is edited; MuJoCo then compiles the result, which must be the identified robot.
Bodies that are attached to a moving body, fixed or held, keep their inertia, and the moving body
gets the rest; where that rest could not exist, it gets all, and the attached ones none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.hold import JointChoice
from didim.robot.inertia import about_centre, is_consistent, transformed
from didim.robot.mjcf.actuators import added_by_actuators
from didim.robot.mjcf.compile import Model, compiled, compiled_text
from didim.robot.mjcf.gains import write_gains
from didim.robot.mjcf.read import link_of_body, robot_of
from didim.robot.mjcf.refusals import name_of
from didim.robot.mjcf.tree import MjcfTree, read_tree
from didim.robot.mjcf.write import STIFF_FRICTION
from didim.robot.robot import Joint, Robot
from didim.robot.same_geometry import same_geometry
from didim.robot.simulator_values import ServoGains, simulator_values
from didim.robot.urdf.numbers import written
from didim.robot.xml_guard import Element, put_comment

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Of what MuJoCo makes of the written values, relative."""

_ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler", "diaginertia", "fullinertia")


def updated_mjcf(
    robot: Robot,
    source: Path,
    target: Path,
    gains: Mapping[str, ServoGains] | None = None,
    stiff_friction: bool = False,
) -> str:
    """The text of `source` with the values of `robot`, which must be of the same geometry and joint
    names, with `gains` by joint and, on request, friction that creeps less; to be written to
    `target`.
    """
    tree = read_tree(source)
    model = compiled(tree)
    known = {name_of(model, "joint", j) for j in range(model.njnt)}
    names = {joint.name for joint in robot.joints}
    before = None
    if known >= names | robot.locked.keys():
        choice = JointChoice(robot.joint_names, robot.locked)
        before = robot_of(model, source, choice)
    if before is None or not same_geometry(robot, before):
        raise InputError(
            f"{source.name}: is not the MJCF of the identified robot {robot.name!r}: joints or "
            "geometry differ."
        )
    _state_inertias(tree, model)
    for joint, old in zip(robot.joints, before.joints, strict=True):
        _write_inertia(tree, model, robot, joint, old)
        _write_joint(tree, model, joint, old)
        if stiff_friction:
            _element(tree, "joint", joint.name).attrib.update(STIFF_FRICTION)
    if gains:
        write_gains(tree, model, robot, gains)
    _write_folders(tree, target)
    if robot.name not in (tree.root.get("model"), source.stem):
        tree.root.set("model", robot.name)
    put_comment(tree.root, robot.reference)
    after = robot_of(compiled_text(tree.text, target), source, JointChoice(None, robot.locked))
    _check(robot, after, source.name)
    for kind, name in tree.given:
        del tree.elements(kind)[name].attrib["name"]
    return f"{tree.text}\n"


def _element(tree: MjcfTree, kind: str, name: str) -> Element:
    """The element of a body or joint; one that MuJoCo made itself has none."""
    found = tree.elements(kind).get(name)
    if found is None:
        raise InputError(
            f"{tree.path.name}: the {kind} {name!r} is made by <replicate> or <attach>, and has no "
            "place of its own for identified values; write it out."
        )
    return found


def _write_inertia(tree: MjcfTree, model: Model, robot: Robot, joint: Joint, old: Joint) -> None:
    """Replace the inertia of the body that a joint moves."""
    if np.array_equal(joint.link, old.link):
        return
    j = next(k for k in range(model.njnt) if name_of(model, "joint", k) == joint.name)
    body = int(model.jnt_bodyid[j])
    label = name_of(model, "body", body)
    if j != model.body_jntadr[body] + model.body_jntnum[body] - 1:
        raise InputError(
            f"{tree.path.name}, body {label!r}: it has several joints, and the identified link "
            f"between them, of joint {joint.name!r}, has no place in MJCF; give each joint a body."
        )
    anchor = model.jnt_pos[j]
    change = transformed(joint.link - old.link, joint.link_frame[:3, :3], anchor)
    own = link_of_body(model, body, np.zeros(3))
    rest = change if own is None else own + change
    if is_consistent(rest):
        _write_inertial(_element(tree, "body", label), rest)
        return
    for attached in _attached(model, body, robot, tree.path.name):
        _write_inertial(_element(tree, "body", name_of(model, "body", attached)), None)
    whole = transformed(joint.link, joint.link_frame[:3, :3], anchor)
    _write_inertial(_element(tree, "body", label), whole)


def _attached(model: Model, body: int, robot: Robot, where: str) -> list[int]:
    """The bodies with a mass that are fixed to a body; a held joint between them is refused."""
    found, group = [], {body}
    for b in range(body + 1, model.nbody):
        if int(model.body_parentid[b]) not in group:
            continue
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        names = [name_of(model, "joint", k) for k in joints]
        if any(name not in robot.locked for name in names):
            continue
        if names:
            raise InputError(
                f"{where}, body {name_of(model, 'body', body)!r}: what was identified of it and "
                f"of what the held joint {names[0]!r} carries is less than the latter alone; "
                "identify with that joint moving, or make it fixed in the file."
            )
        group.add(b)
        if model.body_mass[b]:
            found.append(b)
    return found


def _write_inertial(body: Element, link: Array | None) -> None:
    """Put an inertia (10,) about the origin of a body into its element; None: no mass."""
    mass, centre, inertia = (
        (0.0, np.zeros(3), np.zeros((3, 3))) if link is None else about_centre(link)
    )
    element = body.find("inertial")
    if element is None:
        element = ElementTree.Element("inertial")
        element.tail = body.text
        body.insert(0, element)
    for key in _ORIENTATIONS:
        element.attrib.pop(key, None)
    element.set("pos", written(centre))
    element.set("mass", written(mass))
    if link is None:
        element.set("diaginertia", "0 0 0")
    else:
        six = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        element.set("fullinertia", written(six))


def _write_joint(tree: MjcfTree, model: Model, joint: Joint, old: Joint) -> None:
    """Replace what differs of armature, damping, friction loss and spring of a joint."""
    new, had = simulator_values(joint), simulator_values(old)
    j = next(k for k in range(model.njnt) if name_of(model, "joint", k) == joint.name)
    armature, damping = added_by_actuators(model).get(j, (0.0, 0.0))
    changes = {
        "armature": (new.armature - armature, had.armature - armature),
        "damping": (new.damping - damping, had.damping - damping),
        "frictionloss": (new.frictionloss, had.frictionloss),
        "stiffness": (new.stiffness, had.stiffness),
    }
    if new.stiffness:
        scale = 1.0 if joint.kind == "prismatic" or not _degrees(tree) else 180.0 / np.pi
        changes["springref"] = (new.springref * scale, had.springref * scale)
    element = _element(tree, "joint", joint.name)
    for key, (value, before) in changes.items():
        if value < 0 and key in ("armature", "damping"):
            raise InputError(
                f"{tree.path.name}, joint {joint.name!r}: its actuators have more {key} than was "
                f"identified for both; set {key} of the actuators to 0."
            )
        if value != before:
            element.set(key, written(value))


def _degrees(tree: MjcfTree) -> bool:
    """Whether angles of the file are in degrees, as they are without a word."""
    given = [each.get("angle") for each in tree.root.findall("compiler") if each.get("angle")]
    return not given or given[-1] == "degree"


def _state_inertias(tree: MjcfTree, model: Model) -> None:
    """Where the compiler would change masses that are given, give all bodies those that it made,
    and let it change none.
    """
    settings = {key: each for c in tree.root.findall("compiler") for key, each in c.items()}
    if settings.get("inertiafromgeom") != "true" and "settotalmass" not in settings:
        return
    for b in range(1, model.nbody):
        if model.body_mass[b]:
            element = _element(tree, "body", name_of(model, "body", b))
            _write_inertial(element, link_of_body(model, b, np.zeros(3)))
    for compiler in tree.root.findall("compiler"):
        compiler.attrib.pop("settotalmass", None)
        if "inertiafromgeom" in compiler.attrib:
            compiler.set("inertiafromgeom", "auto")


def _write_folders(tree: MjcfTree, target: Path) -> None:
    """Let the folders of meshes and textures be found from another folder."""
    source, place = tree.path.parent.resolve(), target.parent.resolve()
    if source == place or tree.root.find(".//*[@file]") is None:
        return
    settings = {key: each for c in tree.root.findall("compiler") for key, each in c.items()}
    folders = {
        key: os.path.relpath(source / settings.get(key, settings.get("assetdir", "")), place)
        for key in ("meshdir", "texturedir")
    }
    for compiler in tree.root.findall("compiler"):
        for key in ("assetdir", *folders):
            compiler.attrib.pop(key, None)
    first = tree.root.find("compiler")
    if first is None:
        first = ElementTree.Element("compiler")
        first.tail = tree.root.text
        tree.root.insert(0, first)
    first.attrib.update({key: Path(folder).as_posix() for key, folder in folders.items()})


def _check(robot: Robot, after: Robot, where: str) -> None:
    """Refuse what MuJoCo would not read as the identified robot."""
    for joint, found in zip(robot.joints, after.joints, strict=True):
        size = max(np.abs(joint.link).max(), 1e-12)
        same = np.allclose(joint.link, found.link, rtol=TOLERANCE, atol=TOLERANCE * size)
        one, other = simulator_values(joint), simulator_values(found)
        same = same and np.allclose(
            (one.armature, one.damping, one.frictionloss, one.stiffness),
            (other.armature, other.damping, other.frictionloss, other.stiffness),
            rtol=TOLERANCE,
            atol=1e-12,
        )
        if not same:
            raise InputError(
                f"{where}: settings of the file (boundmass, balanceinertia, a frame with a scale) "
                f"change what was identified of joint {joint.name!r}; remove them."
            )
