"""`didim base`: the base parameters of a robot."""

from __future__ import annotations

import argparse
import math

from didim.cli.answers import BaseAnswer, ParameterAnswer, ShapeAnswer, printed
from didim.cli.joints import joint_options
from didim.dynamics import DynamicModel
from didim.dynamics.parameters import ParameterInfo
from didim.robot import load_robot
from didim.robot.inertia import is_consistent


def run(options: argparse.Namespace) -> int:
    """Print names, nominal values and what each regroups."""
    robot = load_robot(options.robot, *joint_options(options))
    model = DynamicModel(robot, _effects(options.effects))
    base = model.base
    rows = [
        (name, base.formulas[name], float(value) if math.isfinite(value) else None)
        for name, value in zip(base.parameter_names, base.nominal, strict=True)
    ]
    if options.json:
        parameters = [
            ParameterAnswer(name=name, formula=formula, nominal=value)
            for name, formula, value in rows
        ]
        shapes = [
            ShapeAnswer(name=each.name, unit=each.unit, value=float(value), known=each.known)
            for each, value in _shapes(model)
        ]
        answer = BaseAnswer(
            robot=model.robot.name,
            parameters=parameters,
            shapes=shapes,
            channels=list(model.channels),
        )
        print(printed(answer))
        return 0
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
    for channel, effect in model.layout.needs.items():
        print(f"\nThe effect {effect!r} needs the logged channel {channel!r}.")
    if base.defect > 1e-9:
        print(
            "\nNote: angles of this robot look rounded; the base parameters reproduce its torque "
            f"to {base.defect:.1e}."
        )
    for joint in model.robot.joints:
        if not any(map(math.isnan, joint.link)) and not is_consistent(joint.link):
            print(
                "\nNote: the nominal inertial parameters of the link of joint "
                f"{joint.name!r} are not physically consistent."
            )
    return 0


def _shapes(model: DynamicModel) -> list[tuple[ParameterInfo, float]]:
    """Parameters that the torque is not linear in, and their values."""
    terms = model.layout.terms
    return list(zip(terms.shapes, terms.values.tolist(), strict=True))


def _effects(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [word for word in text.replace(",", " ").split() if word != "none"]
