"""`didim base`: the base parameters of a robot."""

from __future__ import annotations

import argparse
import math

from didim.cli.answers import BaseAnswer, ParameterAnswer, printed
from didim.cli.joints import joint_options
from didim.dynamics import DynamicModel
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
        print(printed(BaseAnswer(robot=model.robot.name, parameters=parameters)))
        return 0
    width = max((len(name) for name, _, _ in rows), default=4)
    counts = f"{len(model.parameter_names)} standard parameters, {len(rows)} base parameters"
    print(f"{model.robot.name}: {model.robot.n} joints, {counts}")
    print(f"\n{'name':<{width}}  {'nominal':>12}  regroups")
    for name, formula, value in rows:
        print(f"{name:<{width}}  {'-' if value is None else format(value, '.6g'):>12}  {formula}")
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


def _effects(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [word for word in text.replace(",", " ").split() if word != "none"]
