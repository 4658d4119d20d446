"""Effects as the tables of files: robot files, studies and saved estimates declare them with the
same keys, those of `Effect` and of `EffectParameter`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from didim.errors import InputError, nearest
from didim.robot.effect import Effect
from didim.robot.effect_joints import joint_weights
from didim.robot.effect_parameter import EffectParameter
from didim.robot.robot import Robot

KEYS = tuple(each.name for each in fields(Effect))
"""Of a table [[effect]]."""


def effect_of(table: object, where: str) -> Effect:
    """The effect that a table declares; `where` names the table in errors."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} must be a table, written [[effect]].")
    for key in table:
        if key not in KEYS:
            raise InputError(f"{where}: unknown key {key!r}; {nearest(str(key), KEYS)}")
    for key in ("name", "torque", "unknown"):
        if key not in table:
            raise InputError(f"{where}: the key {key!r} is missing.")
    if not {"joint", "weights"} & set(table):
        raise InputError(f"{where}: the key 'joint' (or 'weights', of several joints) is missing.")
    return Effect(**table)


def effects_of(tables: object, where: str) -> tuple[Effect, ...]:
    """The effects of a list of tables."""
    if not isinstance(tables, list | tuple):
        raise InputError(f"{where}: effect must be tables written [[effect]].")
    return tuple(effect_of(each, f"{where}, effect {k + 1}") for k, each in enumerate(tables))


def effect_table(effect: Effect, robot: Robot) -> dict[str, Any]:
    """The table that declares an effect of a robot, by the names of its joints; what is as by
    default is left out.
    """
    first = next(iter(robot.weights_of(effect)))
    names = [joint.name for joint in robot.numbered]
    named = on_named_joints(effect, names, f"effect {effect.name!r}")
    prismatic = robot.numbered[first].kind == "prismatic"
    table: dict[str, Any] = {"name": effect.name}
    table |= {"weights": dict(named.weights)} if named.weights else {"joint": named.joint}
    table["torque"] = effect.torque
    table["unknown"] = {
        symbol: _parameter(each, prismatic) for symbol, each in effect.unknown.items()
    }
    rest: dict[str, Any] = {
        "fixed": {symbol: float(value) for symbol, value in effect.fixed.items()},
        "let": dict(effect.let),
        "channels": list(effect.channels),
        "conservative": effect.conservative,
        "about": effect.about,
    }
    return table | {key: value for key, value in rest.items() if value}


def _parameter(given: EffectParameter, prismatic: bool) -> dict[str, Any]:
    usual = EffectParameter()
    table: dict[str, Any] = {"unit": given.unit[prismatic]} if given.unit[prismatic] else {}
    if given.value is not None:
        table["value"] = float(given.value)
    if given.sign is not usual.sign:
        table["sign"] = given.sign.value
    if given.kind is not usual.kind:
        table["kind"] = given.kind.value
    if given.known:
        table["known"] = True
    if given.direction:
        table["direction"] = given.direction
    return table


def on_named_joints(effect: Effect, names: Sequence[str], where: str) -> Effect:
    """The effect with its joints by name, since numbers change where joints are held."""
    weights = joint_weights(effect, names, where)
    if not effect.weights:
        return replace(effect, joint=names[next(iter(weights))])
    return replace(effect, weights={names[k]: weight for k, weight in weights.items()})
