"""Reader of URDF: a small strict one on the standard library, since a dynamic model needs joints
and inertias only.

Frame j sits at the URDF joint's origin with z_j turned onto its axis by the smallest rotation.
Collision shapes are kept for the design of motions; visuals and plugins are ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest
from didim.reading import read_bytes
from didim.robot.assemble import Body, assemble, base_shapes
from didim.robot.hold import (
    ALL_JOINTS,
    WITHOUT_COORDINATE,
    JointChoice,
    held_positions,
    with_held,
    with_held_drives,
    with_held_effects,
)
from didim.robot.inertia import about_origin, symmetric
from didim.robot.mimic import Mimic
from didim.robot.robot import Joint, Robot
from didim.robot.shape import Shape, smallest_rotation
from didim.robot.urdf.extension import read_joint_extension, read_robot_extension
from didim.robot.urdf.numbers import numbers, origin_of
from didim.robot.urdf.shapes import shapes_of
from didim.robot.urdf.tree import (
    joints_in_order,
    link_of,
    named_elements,
    parsed,
    root_link,
)
from didim.robot.xml_guard import Element

Array = NDArray[np.float64]

_KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "floating",
    "planar": "planar",
}
UNLIMITED_POSITION = 1e11
"""rad or m: a limit this far away counts as none, since URDF requires both limits."""

_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_urdf(path: Path, choice: JointChoice = ALL_JOINTS) -> Robot:
    """The robot that a URDF file describes, with its root link fixed to the ground, gravity along
    -z and the joints of `choice` moving.
    """
    root = parsed(read_bytes(path), path.name)
    bodies = bodies_of(root, path.name, path.parent)
    names = [body.name for body in bodies if body.kind != "fixed"]
    driven = [body.name for body in bodies if body.kind != "fixed" and body.mimic is None]
    more = read_robot_extension(root, names, len(driven), path.name)
    held = held_positions(bodies, choice, path.name)
    fixed = with_held(bodies, held)
    assembled = assemble(fixed, path.name)
    for joint in assembled:
        _check_link(joint, path.name)
    couplings, drive = more.pop("couplings", ()), more.pop("drive", None)
    more["effects"] = with_held_effects(more.get("effects", ()), names, held, path.name)
    moving = with_held_drives(names, driven, assembled, couplings, drive, path.name)
    links = named_elements(root, "link", path.name)
    base = links[root_link(named_elements(root, "joint", path.name), links, path.name)]
    more["shapes"] = base_shapes(shapes_of(base, path.parent, path.name), fixed)
    return Robot(root.get("name") or path.stem, locked=held, **more, **moving)


def bodies_of(root: Element, where: str, folder: Path | None = None) -> list[Body]:
    """The joints of a file and the links that they move, from the root outwards; with their shapes
    where the folder of the file is given.
    """
    links = named_elements(root, "link", where)
    joints = named_elements(root, "joint", where)
    bodies: list[Body] = []
    moved_by: dict[str, str] = {}
    for name, joint in joints_in_order(joints, links, where):
        place = f"{where}, joint {name!r}"
        child = link_of(joint, "child", place)
        parent = moved_by.get(link_of(joint, "parent", place))
        shapes = () if folder is None else shapes_of(links[child], folder, place)
        bodies.append(_body(joint, name, links[child], parent, place, shapes))
        moved_by[child] = name
    return bodies


def _body(
    joint: Element,
    name: str,
    link: Element,
    parent: str | None,
    where: str,
    shapes: tuple[Shape, ...],
) -> Body:
    kind = joint.get("type", "")
    if kind not in _KINDS:
        raise InputError(f"{where}: unknown joint type {kind!r}; {nearest(kind, _KINDS)}")
    rotation, translation = origin_of(joint, where)
    axis = numbers(joint.find("axis"), "xyz", (1.0, 0.0, 0.0), where)
    straight = kind in ("fixed", *WITHOUT_COORDINATE)
    if not straight and not np.linalg.norm(axis) > 0:
        raise InputError(f"{where}: the axis must not be zero.")
    dynamics = joint.find("dynamics")
    friction = {
        "Fv": float(numbers(dynamics, "damping", (0.0,), where)[0]),
        "Fc": float(numbers(dynamics, "friction", (0.0,), where)[0]),
    }
    effects, values, passive = read_joint_extension(joint, where)
    return Body(
        name=name,
        kind=_KINDS[kind],
        parent=parent,
        rotation=rotation,
        translation=translation,
        link=_link(link, where),
        axes=np.eye(3) if straight else smallest_rotation(axis / np.linalg.norm(axis)),
        effects=frozenset({"viscous", "coulomb"}) if effects is None else effects,
        nominal=friction if effects is None else values,
        mimic=_mimic(joint.find("mimic"), where),
        shapes=shapes,
        passive=passive,
        **_limits(joint.find("limit"), kind, where),
    )


def _mimic(element: Element | None, where: str) -> Mimic | None:
    if element is None:
        return None
    if not (joint := element.get("joint", "")):
        raise InputError(f'{where}: <mimic joint="..."/> names no joint.')
    return Mimic(
        joint,
        float(numbers(element, "multiplier", (1.0,), where)[0]),
        float(numbers(element, "offset", (0.0,), where)[0]),
    )


def _limits(limit: Element | None, kind: str, where: str) -> dict[str, Any]:
    """Limits of a joint; what is absent or zero counts as unlimited, since zero is what generators
    write for unknown.
    """
    lower = float(numbers(limit, "lower", (0.0,), where)[0])
    upper = float(numbers(limit, "upper", (0.0,), where)[0])
    if kind == "continuous" or lower == upper:
        lower, upper = -np.inf, np.inf
    return {
        "position_limits": (
            lower if lower > -UNLIMITED_POSITION else -np.inf,
            upper if upper < UNLIMITED_POSITION else np.inf,
        ),
        "velocity_limit": float(numbers(limit, "velocity", (0.0,), where)[0]) or np.inf,
        "torque_limit": float(numbers(limit, "effort", (0.0,), where)[0]) or np.inf,
    }


def _link(link: Element, where: str) -> Array | None:
    """The ten parameters in the link's own axes; None where it has no inertial."""
    inertial = link.find("inertial")
    if inertial is None:
        return None
    place = f"{where}, inertial of link {link.get('name')!r}"
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        raise InputError(f"{place}: <mass> and <inertia> must both be given.")
    rotation, centre = origin_of(inertial, place)
    value = float(numbers(mass, "value", None, place)[0])
    if value < 0:
        raise InputError(f"{place}: the mass must not be negative, found {value}.")
    J = symmetric(
        [numbers(inertia, key, (0.0,) if key[1] != key[2] else None, place)[0] for key in _INERTIA]
    )
    return about_origin(value, centre, rotation @ J @ rotation.T)


def _check_link(joint: Joint, where: str) -> None:
    if np.isnan(joint.link).all():
        raise InputError(
            f"{where}: the link moved by joint {joint.name!r} has no <inertial>, nor has any link "
            "fixed to it; "
            "add one (its values are only a start for identification) or make the joint fixed."
        )
