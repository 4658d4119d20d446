"""Identified gains of servos, in the actuators of an MJCF file."""

from __future__ import annotations

from collections.abc import Mapping

from didim.errors import InputError
from didim.robot.mjcf.actuators import MOTOR, POSITION, Actuator, actuators_of
from didim.robot.mjcf.compile import Model
from didim.robot.mjcf.tree import MjcfTree
from didim.robot.robot import Robot
from didim.robot.simulator_values import ServoGains
from didim.robot.urdf.numbers import written
from didim.robot.xml_guard import Element


def write_gains(
    tree: MjcfTree, model: Model, robot: Robot, gains: Mapping[str, ServoGains]
) -> None:
    """Replace the gains of the servos of the joints that `gains` names."""
    where = tree.path.name
    actuators = actuators_of(model, robot, where)
    elements = tree.elements("actuator")
    for joint, found in gains.items():
        own = [each for each in actuators if each.joint == joint and each.kind != MOTOR]
        if len(own) != 1:
            raise InputError(
                f"{where}: gains of joint {joint!r} were identified, but it has {len(own)} servos "
                "to write them to; give it one <position> actuator."
            )
        _write(elements[own[0].name], own[0], found)


def _write(element: Element, actuator: Actuator, found: ServoGains) -> None:
    """kp and kv of a servo, from those at the joint: both are gear^2 times its own."""
    kp, kv = (value / actuator.gear**2 for value in (found.kp, found.kv))
    gain = kp if actuator.kind == POSITION else kv
    if element.tag == "general":
        biases = (0.0, -kp, -kv) if actuator.kind == POSITION else (0.0, 0.0, -kv)
        _replace_first(element, "gainprm", (gain,))
        _replace_first(element, "biasprm", biases)
        return
    if actuator.kind == POSITION:
        element.attrib.pop("dampratio", None)
        element.set("kp", written(kp))
    element.set("kv", written(kv))


def _replace_first(element: Element, key: str, values: tuple[float, ...]) -> None:
    """Replace the first numbers of an attribute, and keep the others."""
    rest = element.get(key, "").split()[len(values) :]
    element.set(key, " ".join([written(values), *rest]))
