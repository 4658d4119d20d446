"""What URDF cannot express, in elements <didim> that other programs ignore.

In a <joint>: its effects and their values (rotor, offset, friction of two directions), and whether
it is passive. In the <robot>: another gravity than (0, 0, -9.81), couplings, the drives, and own
effects (`effects.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from didim.errors import InputError, nearest
from didim.robot.drive import Drive
from didim.robot.effects import COUPLING_STEMS, EFFECT_STEMS, STEMS, check_effects
from didim.robot.robot import Coupling, Joint, Robot
from didim.robot.urdf.effects import EFFECT, read_effects, write_effects
from didim.robot.urdf.numbers import check_keys, numbers, written

TAG = "didim"
PASSIVE = "passive"
GRAVITY = (0.0, 0.0, -9.81)
URDF_EFFECTS = frozenset({"viscous", "coulomb"})
"""Effects that URDF itself can express."""


def read_joint_extension(
    joint: Element, where: str
) -> tuple[frozenset[str] | None, dict[str, float], bool]:
    """Effects (None: those of every URDF) and values that a joint's <didim> gives, and whether the
    joint is passive.
    """
    if (element := joint.find(TAG)) is None:
        return None, {}, False
    check_keys(element, ("effects", PASSIVE, *EFFECT_STEMS), where)
    passive = element.get(PASSIVE, "false")
    if passive not in ("true", "false"):
        raise InputError(f'{where}: {PASSIVE} must be "true" or "false", found {passive!r}.')
    if set(element.attrib) == {PASSIVE}:
        return None, {}, passive == "true"
    effects = check_effects(element.get("effects", "").split(), where)
    values = {
        key: float(numbers(element, key, None, where)[0])
        for key in element.attrib
        if key not in ("effects", PASSIVE)
    }
    return effects, values, passive == "true"


def read_robot_extension(
    root: Element, names: Sequence[str], driven: int, where: str
) -> dict[str, Any]:
    """Gravity, couplings, drive, own effects and reference that the robot's <didim> gives for
    moving joints with these names, as arguments of `Robot`; `driven` of them have a drive.
    """
    if (element := root.find(TAG)) is None:
        return {}
    check_keys(element, ("gravity", "reference"), where, ("coupling", "drive", EFFECT))
    drive = element.find("drive")
    return {
        "gravity": numbers(element, "gravity", GRAVITY, where),
        "reference": element.get("reference", ""),
        "couplings": tuple(
            _coupling(each, names, f"{where}, coupling") for each in element.findall("coupling")
        ),
        "drive": None if drive is None else _drive(drive, driven, f"{where}, drive"),
        "effects": read_effects(element, where),
    }


def write_joint_extension(parent: Element, joint: Joint) -> None:
    """Add <didim> to a joint that has more than viscous and Coulomb friction, or less, or negative
    values of it, or is passive.
    """
    usual = joint.effects == URDF_EFFECTS and all(v >= 0 for v in joint.nominal.values())
    if usual and not joint.passive:
        return
    element = SubElement(parent, TAG)
    if joint.passive:
        element.set(PASSIVE, "true")
    if usual:
        return
    element.set("effects", " ".join(effect for effect in STEMS if effect in joint.effects))
    for stem, value in joint.nominal.items():
        element.set(stem, written(value))


def write_robot_extension(root: Element, robot: Robot) -> None:
    """Add <didim> to a robot with another gravity, couplings, drives, own effects or a
    reference.
    """
    element = Element(TAG)
    if tuple(robot.gravity) != GRAVITY:
        element.set("gravity", written(robot.gravity))
    if robot.reference:
        element.set("reference", robot.reference)
    for coupling in robot.couplings:
        child = SubElement(
            element, "coupling", name=coupling.name, effects=" ".join(sorted(coupling.effects))
        )
        for stem, value in coupling.nominal.items():
            child.set(stem, written(value))
        for k, weight in coupling.weights.items():
            SubElement(child, "weight", joint=robot.coordinates[k].name, value=written(weight))
    if robot.drive is not None:
        known = {
            key: getattr(robot.drive, key) for key in ("gear", "current_gain", "torque_constant")
        }
        SubElement(
            element,
            "drive",
            {key: written(value) for key, value in known.items() if value is not None},
        )
    write_effects(element, robot)
    if element.attrib or len(element):
        root.append(element)


def _coupling(element: Element, names: Sequence[str], where: str) -> Coupling:
    check_keys(element, ("name", "effects", *COUPLING_STEMS.values()), where, ("weight",))
    weights = {}
    for each in element.findall("weight"):
        check_keys(each, ("joint", "value"), where)
        if (name := each.get("joint", "")) not in names:
            raise InputError(f"{where}: no joint is called {name!r}; {nearest(name, names)}")
        if names.index(name) in weights:
            raise InputError(f"{where}: joint {name!r} has two weights.")
        weights[names.index(name)] = float(numbers(each, "value", None, where)[0])
    effects = check_effects(element.get("effects", "").split(), where, tuple(COUPLING_STEMS))
    values = {
        stem: float(numbers(element, stem, None, where)[0])
        for stem in COUPLING_STEMS.values()
        if stem in element.attrib
    }
    return Coupling(element.get("name", ""), weights, effects, values)


def _drive(element: Element, n: int, where: str) -> Drive:
    check_keys(element, ("gear", "current_gain", "torque_constant"), where)
    gear = numbers(element, "gear", tuple(np.eye(n).ravel()), where).reshape(n, n)
    single = {
        key: numbers(element, key, (1.0,) * n, where)
        for key in ("current_gain", "torque_constant")
        if key in element.attrib
    }
    return Drive(gear, **single)
