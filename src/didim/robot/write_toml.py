"""A robot written in TOML so that `load_robot` reads back the same numbers; docs/robot-files.md
describes the format.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.dh import BASE_NAME, placement
from didim.robot.drive import Drive
from didim.robot.effect_tables import effect_table
from didim.robot.effects import LINK, STEMS
from didim.robot.robot import BASE, Joint, Robot
from didim.robot.shape import Shape

Array = NDArray[np.float64]


def robot_toml(robot: Robot) -> str:
    """The text of the file. Frames are written by modified Denavit-Hartenberg parameters where
    these give them exactly.
    """
    lines = [f"name = {toml_string(robot.name)}"]
    if robot.reference:
        lines.append(f"reference = {toml_string(robot.reference)}")
    lines.append(f"gravity = {_list(robot.gravity)}")
    lines += _capsules(robot.shapes)
    for j, joint in enumerate(robot.joints):
        lines += ["", "[[joint]]", *_joint(robot, joint, j)]
    for coupling in robot.couplings:
        weights = ", ".join(
            f"{toml_string(robot.coordinates[k].name)} = {_number(w)}"
            for k, w in coupling.weights.items()
        )
        lines += [
            "",
            "[[coupling]]",
            f"name = {toml_string(coupling.name)}",
            f"weights = {{ {weights} }}",
        ]
        lines += [
            f"effects = {_texts(coupling.effects)}",
            *_table("nominal", dict(coupling.nominal)),
        ]
    for effect in robot.effects:
        table = effect_table(effect, robot)
        lines += ["", "[[effect]]", *(f"{key} = {toml_value(table[key])}" for key in table)]
    return "\n".join([*lines, *_drive(robot.drive), ""])


def _joint(robot: Robot, joint: Joint, j: int) -> list[str]:
    if joint.name == BASE_NAME:
        raise InputError(
            f"A joint called {BASE_NAME!r} cannot be written in TOML, where that is the base; "
            "write a .urdf file."
        )
    parent = BASE_NAME if joint.parent == BASE else robot.joints[joint.parent].name
    above = BASE_NAME if j == 0 else robot.joints[j - 1].name
    lines = [f"name = {toml_string(joint.name)}", f"type = {toml_string(joint.kind)}"]
    lines += [f"parent = {toml_string(parent)}"] if parent != above else []
    lines += _frame(joint)
    if joint.mimic is not None:
        lines.append(f"mimic = {toml_value(asdict(joint.mimic))}")
    if joint.passive:
        lines.append("passive = true")
    if any(map(math.isfinite, joint.position_limits)):
        lines.append(f"position = {_list(joint.position_limits)}")
    lines += [
        f"{key} = {_number(limit)}"
        for key, limit in (("velocity", joint.velocity_limit), ("torque", joint.torque_limit))
        if math.isfinite(limit)
    ]
    lines.append(f"effects = {_texts(effect for effect in STEMS if effect in joint.effects)}")
    known = {
        stem: float(value)
        for stem, value in zip(LINK, joint.link, strict=True)
        if not math.isnan(value)
    }
    return lines + _table("nominal", known | dict(joint.nominal)) + _capsules(joint.shapes)


def _capsules(shapes: tuple[Shape, ...]) -> list[str]:
    """The capsules among the shapes; the format has no others."""
    entries = [
        f"{{ from = {_list(shape.ends[0])}, to = {_list(shape.ends[1])}, "
        f"radius = {_number(shape.size[0])} }}"
        for shape in shapes
        if shape.kind == "capsule"
    ]
    return [f"capsules = [{', '.join(entries)}]"] if entries else []


def _frame(joint: Joint) -> list[str]:
    """Denavit-Hartenberg where R = Rot(x, alpha) Rot(z, theta) and the offset lies along these
    axes, else the matrix.
    """
    R, p = joint.rotation, joint.translation
    alpha, theta = math.atan2(-R[1, 2], R[2, 2]), math.atan2(-R[0, 1], R[0, 0])
    r = float(p[2] * math.cos(alpha) - p[1] * math.sin(alpha))
    rotation, translation = placement(0.0, 0.0, alpha, float(p[0]), theta, r)
    if np.abs(rotation - R).max() > 1e-15 or np.abs(translation - p).max() > 1e-15:
        return [f"rotation = [{', '.join(_list(row) for row in R)}]", f"translation = {_list(p)}"]
    given = {
        "alpha": _angle(alpha),
        "d": _number(float(p[0])),
        "theta": _angle(theta),
        "r": _number(r),
    }
    return [f"{key} = {value}" for key, value in given.items() if value not in ("0.0", "-0.0")]


def _drive(drive: Drive | None) -> list[str]:
    if drive is None:
        return []
    lines = ["", "[drive]", f"gear = {_list(np.diag(drive.gear))}"]
    for key in ("current_gain", "torque_constant"):
        if (value := getattr(drive, key)) is not None:
            lines.append(f"{key} = {_list(value)}")
    others = [(i, j) for i, j in np.argwhere(drive.gear != 0).tolist() if i != j]
    if others:
        entries = (
            f"{{ motor = {i + 1}, joint = {j + 1}, ratio = {_number(drive.gear[i, j])} }}"
            for i, j in others
        )
        lines.append(f"gear_coupling = [{', '.join(entries)}]")
    return lines


def toml_value(value: Any) -> str:
    """A text, a number, true or false, a list or a table, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        entries = (f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(entries)} }}" if value else "{}"
    return str(value) if isinstance(value, int) else _number(value)


def toml_key(word: str) -> str:
    """A key of a table: a word as it is, anything else as a string."""
    return word if word.isascii() and word.isidentifier() else toml_string(word)


def _table(key: str, values: dict[str, float]) -> list[str]:
    entries = ", ".join(f"{name} = {_number(value)}" for name, value in values.items())
    return [f"{key} = {{ {entries} }}"] if values else []


def _angle(value: float) -> str:
    quarters = round(value / (math.pi / 2))
    if value != quarters * (math.pi / 2):
        return _number(value)
    return {0: "0.0", 1: '"pi/2"', -1: '"-pi/2"', 2: '"pi"', -2: '"-pi"'}[quarters]


def _number(value: float) -> str:
    return repr(float(value))


def _list(values: object) -> str:
    return f"[{', '.join(_number(value) for value in np.asarray(values, dtype=float))}]"


def _texts(words: object) -> str:
    listed = sorted(words) if isinstance(words, frozenset) else list(words)  # type: ignore[call-overload]
    return f"[{', '.join(toml_string(word) for word in listed)}]"


def toml_string(word: str) -> str:
    """A basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
