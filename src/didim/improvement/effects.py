"""Effects of the catalogue added to single joints of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_lowercase

from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.results.formatting import listed
from didim.results.lack_of_fit import LackRow
from didim.robot.catalogue import CATALOGUE
from didim.robot.effect import Effect
from didim.robot.effect_parameter import EffectParameter, ParameterKind, Sign
from didim.robot.labels import joint_label
from didim.robot.robot import Robot

_SHIFTED = "offset"
"""What Coulomb friction that differs between the directions adds to an even one: |slip|, which is
the offset wherever the joint moves.
"""

_ESTIMATED = ("order",)
"""Shapes that are held where a person declares them, but only nearly known where they were found:
a ripple whose order is slightly off leaves another one beside it.
"""


def with_effects(model: DynamicModel, rows: Sequence[LackRow]) -> DynamicModel:
    """The model with the effects of these rows, each on its joint under a name of its own."""
    robot, names, added = model.robot, model.effects, []
    for row in rows:
        effect = _effect(robot, row)
        if any(_is_same(effect, each) for each in robot.effects):
            raise InputError(f"the model has the effect {row.effect!r} of that joint already")
        robot = replace(robot, effects=(*robot.effects, effect))
        added.append(effect.name)
    chosen = None if names is None else (*names, *added)
    return DynamicModel(robot, chosen, model.shapes, model.held, model.fixed)


def described(model: DynamicModel, rows: Sequence[LackRow]) -> str:
    """What `with_effects` adds, in a sentence."""
    each = [
        f"{_name_of(row)} of {joint_label(model.robot, row.joint)}"
        for row in rows
        if row.joint is not None
    ]
    return f"Added: {listed(each)}."


def _name_of(row: LackRow) -> str:
    return {"asymmetric_coulomb": _SHIFTED}.get(row.effect, row.effect)


def _effect(robot: Robot, row: LackRow) -> Effect:
    """The effect of a row, with the values that were found for its start."""
    assert row.joint is not None
    name, joint = _name_of(row), robot.joint_names[row.joint]
    if name == "asymmetric_viscous":
        unit = CATALOGUE["viscous"].unknown["Fv"].unit
        unknown = {"dFv": EffectParameter(ParameterKind.VISCOUS, unit)}
        about = "viscous friction that differs between the directions: Fv + dFv and Fv - dFv"
        own = Effect(_free_name(robot, name, row.joint), "dFv * abs(dq)", unknown, about=about)
        return own.at(joint)
    shipped = CATALOGUE[name]
    if row.value < 0 and all(
        shipped.unknown[each].sign is Sign.POSITIVE for each in shipped.linear
    ):
        raise InputError(f"{row.name} below zero is not physical")
    unknown = dict(shipped.unknown)
    for symbol, value in row.shapes.items():
        known = unknown[symbol].known and symbol not in _ESTIMATED
        unknown[symbol] = replace(unknown[symbol], value=float(value), known=known)
    return replace(shipped, name=_free_name(robot, name, row.joint), unknown=unknown).at(joint)


def _free_name(robot: Robot, name: str, joint: int) -> str:
    """A name that no effect of the robot has: "stribeck1", then "stribeck1b"."""
    taken = {each.name for each in robot.effects}
    tried = f"{name}{joint + 1}"
    return next(
        each for each in (tried, *(tried + c for c in ascii_lowercase[1:])) if each not in taken
    )


def _is_same(one: Effect, other: Effect) -> bool:
    """Whether two effects of a robot are one: torque, joint and values."""
    return one.torque == other.torque and one.joint == other.joint and one.unknown == other.unknown
