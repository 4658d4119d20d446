"""Models, controllers and histories as plain data, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import PD, PID, Cascade, ComputedTorque
from didim.control.servo import Servo
from didim.dynamics.model import BaseModel, DynamicModel
from didim.dynamics.torque import TorqueModel
from didim.results.history import DIDIM, Iteration
from didim.results.status import Failure, FailureKind, Guard, GuardKind
from didim.robot.effect import Effect
from didim.robot.effect_tables import effect_of, effect_table
from didim.robot.serialisation import plain_robot, robot_of
from didim.simulation.distance import Distance

Array = NDArray[np.float64]
Arrays = Mapping[str, Array]

_LAWS: dict[str, type[Controller]] = {
    law.__name__: law for law in (PD, PID, Cascade, ComputedTorque, Servo)
}


def plain_model(model: TorqueModel) -> dict[str, Any]:
    """Robot, effects, shapes, known values and whether the parameters are the base ones."""
    full = model.full if isinstance(model, BaseModel) else model
    effects = full.effects if isinstance(full, DynamicModel) else None
    shapes = full.shapes if isinstance(full, DynamicModel) else None
    fixed = full.fixed if isinstance(full, DynamicModel) else None
    return {
        "robot": plain_robot(model.robot),
        "effects": None
        if effects is None
        else [
            effect_table(each, model.robot) if isinstance(each, Effect) else each
            for each in effects
        ],
        "shapes": {name: float(value) for name, value in (shapes or {}).items()},
        "fixed": None if fixed is None else dict(fixed),
        "base": isinstance(model, BaseModel),
    }


def model_of(data: Mapping[str, Any]) -> DynamicModel | BaseModel:
    """The model that `plain_model` wrote."""
    effects = data["effects"]
    if effects is not None:
        effects = [each if isinstance(each, str) else effect_of(each, "model") for each in effects]
    values, fixed = data.get("shapes"), data.get("fixed")
    model = DynamicModel(robot_of(data["robot"]), effects, values, fixed=fixed)
    return model.base if data["base"] else model


def plain_controller(controller: Controller | None) -> dict[str, Any] | None:
    """The law's name and settings; a law of the user's own keeps its code, only its description is
    kept.
    """
    if controller is None:
        return None
    if type(controller).__name__ not in _LAWS:
        return {"law": type(controller).__name__, "description": repr(controller)}
    settings: dict[str, Any] = {}
    for each in fields(controller):
        value = getattr(controller, each.name)
        if isinstance(value, TorqueModel):
            settings[each.name] = plain_model(value)
        elif each.name == "saturation":
            settings[each.name] = [
                repr(limit) for limit in np.atleast_1d(np.asarray(value, dtype=float)).tolist()
            ]
        elif value is not None:
            settings[each.name] = np.asarray(value).tolist()
    return {"law": type(controller).__name__, **settings}


def controller_of(data: Mapping[str, Any] | None) -> Controller | None:
    """The controller that `plain_controller` wrote; None for a law of the user's own."""
    if data is None or data["law"] not in _LAWS:
        return None
    settings = {name: value for name, value in data.items() if name != "law"}
    limits = [float(limit) for limit in settings["saturation"]]
    settings["saturation"] = limits[0] if len(limits) == 1 else limits
    if "model" in settings:
        settings["model"] = model_of(settings["model"])
    return _LAWS[data["law"]](**settings)


def history_arrays(history: tuple[Iteration, ...]) -> dict[str, Array]:
    """The numbers of a history, one array each."""
    arrays = {}
    for k, step in enumerate(history):
        arrays[f"step{k}.parameters"] = step.parameters
        arrays[f"step{k}.residual_by_joint"] = step.residual_by_joint
        for name, gain in step.gains.items():
            arrays[f"step{k}.gains.{name}"] = gain
        for name in ("to_reference", "to_measured"):
            if (distance := getattr(step, name)) is not None:
                arrays[f"step{k}.{name}"] = np.vstack([distance.q, distance.dq, distance.ddq])
    return arrays


def plain_history(history: tuple[Iteration, ...]) -> list[dict[str, Any]]:
    """The single numbers and guards of a history."""
    return [
        {
            "residual": step.residual,
            "fraction": step.fraction,
            "guards": [_plain_guard(guard) for guard in step.guards],
            "seconds": step.seconds,
            "stage": step.stage,
            "convergence_rate": step.convergence_rate,
            "friction_ratio": step.friction_ratio,
        }
        for step in history
    ]


def history_of(steps: list[Mapping[str, Any]], arrays: Arrays) -> tuple[Iteration, ...]:
    """The history that the two functions above wrote."""
    found = []
    for k, step in enumerate(steps):
        prefix = f"step{k}."
        own = {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }
        distances = {
            name: Distance(*own[name]) for name in ("to_reference", "to_measured") if name in own
        }
        gains = {
            name.removeprefix("gains."): value
            for name, value in own.items()
            if name.startswith("gains.")
        }
        found.append(
            Iteration(
                own["parameters"],
                np.inf if step["residual"] is None else step["residual"],
                own["residual_by_joint"],
                gains,
                step["fraction"],
                tuple(_guard_of(guard) for guard in step["guards"]),
                seconds=step["seconds"],
                stage=step.get("stage", DIDIM),
                convergence_rate=step.get("convergence_rate"),
                friction_ratio=step.get("friction_ratio"),
                **distances,
            )
        )
    return tuple(found)


def _plain_guard(guard: Guard) -> dict[str, Any]:
    failure = guard.failure
    return {
        "kind": guard.kind.value,
        "names": list(guard.names),
        "failure": None
        if failure is None
        else {
            "kind": failure.kind.value,
            "detail": failure.detail,
            "time": failure.time,
            "joint": failure.joint,
        },
    }


def _guard_of(data: Mapping[str, Any]) -> Guard:
    failure = data["failure"]
    if failure is not None:
        kind = FailureKind(failure["kind"])
        failure = Failure(kind, failure["detail"], failure["time"], failure["joint"])
    return Guard(GuardKind(data["kind"]), tuple(data["names"]), failure)


def finite(value: Any) -> Any:
    """JSON has null for what is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    return value
