"""A robot as plain data, for files that must be read without the description it came from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from didim.robot.drive import Drive
from didim.robot.effect_tables import effect_table, effects_of
from didim.robot.mimic import Mimic
from didim.robot.robot import Coupling, Joint, Robot
from didim.robot.shape import Shape, plain_shape, shape_of


def plain_robot(robot: Robot) -> dict[str, Any]:
    """Numbers, lists and texts; None for what is unknown (nan) or unlimited (inf)."""
    drive = robot.drive
    return {
        "name": robot.name,
        "reference": robot.reference,
        "gravity": robot.gravity.tolist(),
        "locked": dict(robot.locked),
        "joints": [_plain_joint(joint) for joint in robot.joints],
        "couplings": [
            {
                "name": coupling.name,
                "weights": {str(index): weight for index, weight in coupling.weights.items()},
                "effects": sorted(coupling.effects),
                "nominal": dict(coupling.nominal),
            }
            for coupling in robot.couplings
        ],
        "effects": [effect_table(effect, robot) for effect in robot.effects],
        "drive": None
        if drive is None
        else {
            name: None if (value := getattr(drive, name)) is None else value.tolist()
            for name in ("gear", "current_gain", "torque_constant")
        },
        **_plain_shapes(robot.shapes),
    }


def robot_of(data: Mapping[str, Any]) -> Robot:
    """The robot that `plain_robot` wrote."""
    drive = data["drive"]
    return Robot(
        name=data["name"],
        reference=data["reference"],
        gravity=np.array(data["gravity"]),
        joints=tuple(_joint_of(joint) for joint in data["joints"]),
        couplings=tuple(
            Coupling(
                each["name"],
                {int(k): v for k, v in each["weights"].items()},
                frozenset(each["effects"]),
                dict(each["nominal"]),
            )
            for each in data["couplings"]
        ),
        effects=effects_of(data.get("effects", []), f"robot {data['name']!r}"),
        drive=None if drive is None else _drive_of(drive),
        locked={str(name): float(value) for name, value in data.get("locked", {}).items()},
        shapes=tuple(map(shape_of, data.get("shapes", ()))),
    )


def _drive_of(data: Mapping[str, Any]) -> Drive:
    arrays: dict[str, Any] = {
        name: None if value is None else np.array(value) for name, value in data.items()
    }
    return Drive(**arrays)


def _plain_joint(joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "rotation": joint.rotation.tolist(),
        "translation": joint.translation.tolist(),
        "position_limits": [_known(limit) for limit in joint.position_limits],
        "velocity_limit": _known(joint.velocity_limit),
        "torque_limit": _known(joint.torque_limit),
        "effects": sorted(joint.effects),
        "link": [_known(value) for value in joint.link],
        "nominal": dict(joint.nominal),
        "link_frame": joint.link_frame.tolist(),
        "mimic": None if joint.mimic is None else asdict(joint.mimic),
        **({"passive": True} if joint.passive else {}),
        **_plain_shapes(joint.shapes),
    }


def _plain_shapes(shapes: tuple[Shape, ...]) -> dict[str, Any]:
    return {"shapes": [plain_shape(shape) for shape in shapes]} if shapes else {}


def _joint_of(data: Mapping[str, Any]) -> Joint:
    lower, upper = data["position_limits"]
    return Joint(
        name=data["name"],
        kind=data["kind"],
        parent=data["parent"],
        rotation=np.array(data["rotation"]),
        translation=np.array(data["translation"]),
        position_limits=(
            -math.inf if lower is None else lower,
            math.inf if upper is None else upper,
        ),
        velocity_limit=math.inf if data["velocity_limit"] is None else data["velocity_limit"],
        torque_limit=math.inf if data["torque_limit"] is None else data["torque_limit"],
        effects=frozenset(data["effects"]),
        link=np.array([math.nan if value is None else value for value in data["link"]]),
        nominal=dict(data["nominal"]),
        link_frame=np.array(data["link_frame"]),
        mimic=None if data.get("mimic") is None else Mimic(**data["mimic"]),
        shapes=tuple(map(shape_of, data.get("shapes", ()))),
        passive=bool(data.get("passive", False)),
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
