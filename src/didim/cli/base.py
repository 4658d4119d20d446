"""`didim base`: the base parameters of a robot."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import didim
from didim.cli.shared.answer import Answer, Number, printed
from didim.cli.shared.joints import add_joints, joint_options
from didim.cli.shared.options import add_file, add_json

if TYPE_CHECKING:
    from didim.dynamics.parameters import ParameterInfo

DESCRIPTION = "What they regroup, and their nominal values."
EXAMPLES = """
didim base scara
didim base arm.urdf --effects rotor,viscous,coulomb
didim base tx40 --json
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A robot and its effects."""
    add_file(
        command,
        "robot",
        metavar="ROBOT",
        help="a shipped robot's name, or a .toml, .urdf or .xml file",
    )
    command.add_argument(
        "--effects",
        metavar="LIST",
        help="comma-separated: rotor viscous coulomb offset coupling asymmetric_viscous "
        "asymmetric_coulomb, or none; "
        "default: what the robot declares",
    )
    add_joints(command)
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Print names, nominal values and what each regroups."""
    robot = didim.load_robot(options.robot, *joint_options(options))
    model = didim.DynamicModel(robot, _effects(options.effects))
    if options.json:
        print(printed(_answer(model)))
    else:
        _print_table(model)
        _print_notes(model)
    return 0


def _effects(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [word for word in text.replace(",", " ").split() if word != "none"]


def _rows(model: didim.DynamicModel) -> list[tuple[str, str, Number]]:
    """Name, formula and nominal value of each base parameter."""
    base = model.base
    return [
        (name, base.formulas[name], float(value) if math.isfinite(value) else None)
        for name, value in zip(base.parameter_names, base.nominal, strict=True)
    ]


def _shapes(model: didim.DynamicModel) -> list[tuple[ParameterInfo, float]]:
    """Parameters that the torque is not linear in, and their values."""
    terms = model.layout.terms
    return list(zip(terms.shapes, terms.values.tolist(), strict=True))


def _print_table(model: didim.DynamicModel) -> None:
    rows = _rows(model)
    width = max((len(name) for name, _, _ in rows), default=4)
    counts = f"{len(model.parameter_names)} standard parameters, {len(rows)} base parameters"
    print(f"{model.robot.name}: {model.robot.n} joints, {counts}")
    print(f"\n{'name':<{width}}  {'nominal':>12}  regroups")
    for name, formula, value in rows:
        print(f"{name:<{width}}  {'-' if value is None else format(value, '.6g'):>12}  {formula}")
    if _shapes(model):
        print("\nNot linear in the torque:")
        for each, number in _shapes(model):
            held = "  held unless it is asked for" if each.known else ""
            print(f"{each.name:<{width}}  {number:>12.6g}  {each.unit}{held}")


def _print_notes(model: didim.DynamicModel) -> None:
    from didim.robot.inertia import is_consistent

    for channel, effect in model.layout.needs.items():
        print(f"\nThe effect {effect!r} needs the logged channel {channel!r}.")
    if model.base.defect > 1e-9:
        print(
            "\nNote: angles of this robot look rounded; the base parameters reproduce its torque "
            f"to {model.base.defect:.1e}."
        )
    for joint in model.robot.joints:
        if not any(map(math.isnan, joint.link)) and not is_consistent(joint.link):
            print(
                "\nNote: the nominal inertial parameters of the link of joint "
                f"{joint.name!r} are not physically consistent."
            )


@dataclass(frozen=True, eq=False)
class ParameterAnswer(Answer):
    """One base parameter."""

    name: str
    formula: str
    nominal: Number


@dataclass(frozen=True, eq=False)
class ShapeAnswer(Answer):
    """One parameter that the torque is not linear in."""

    name: str
    unit: str
    value: float
    known: bool
    """Whether it is held at its value unless it is asked for."""


@dataclass(frozen=True, eq=False)
class BaseAnswer(Answer):
    """The result of `didim base`."""

    robot: str
    parameters: list[ParameterAnswer]
    shapes: list[ShapeAnswer]
    channels: list[str]
    """Names of the logged channels that effects need."""


def _answer(model: didim.DynamicModel) -> BaseAnswer:
    parameters = [
        ParameterAnswer(name=name, formula=formula, nominal=value)
        for name, formula, value in _rows(model)
    ]
    shapes = [
        ShapeAnswer(name=each.name, unit=each.unit, value=float(value), known=each.known)
        for each, value in _shapes(model)
    ]
    return BaseAnswer(
        robot=model.robot.name,
        parameters=parameters,
        shapes=shapes,
        channels=list(model.channels),
    )
