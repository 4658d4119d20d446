"""The controller and the methods that a study describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from didim.control.law import Controller
from didim.control.laws import PD, PID, Cascade, ComputedTorque
from didim.control.servo import Servo
from didim.dynamics.model import DynamicModel
from didim.errors import InputError
from didim.identification.identify import Method
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.identification.methods.iv import IV
from didim.identification.methods.output_error import OutputError
from didim.results.store import load_estimate
from didim.robot.load import load_robot, shipped_robots
from didim.robot.robot import Robot
from didim.study.loop_schema import ControllerTable
from didim.study.paths import existing
from didim.study.schema import StudyFile
from didim.study.table import Table

LAWS: dict[str, Callable[..., Controller]] = {
    "pd": PD,
    "pid": PID,
    "cascade": Cascade,
    "computed_torque": ComputedTorque,
    "servo": Servo,
    "unknown": PD,
}

FROM_IDIM = ("cutoff", "order", "decimation", "decimate", "trim", "rest_velocity")
"""Settings that IV takes from [idim] where its own table has none."""

FROM_DIDIM = ("initial", "gain_update", "start")
"""And those from [didim]."""

UNKNOWN_BANDWIDTH = 30.0
"""rad/s, that the scan for the gains of an unknown law starts from."""


def controller_of(table: ControllerTable, model: DynamicModel, folder: Path) -> Controller:
    """The loop of a table [controller]."""
    settings: dict[str, Any] = table.given("law", "model", "assumed")
    law: Callable[..., Controller] = LAWS[table.law]
    if table.Kp is not None or table.Kd is not None:
        if LAWS[table.law] is not PD or table.Kp is None or table.Kd is None:
            raise InputError(
                "controller: Kp and Kd belong together, and to the law pd; other gains are kp, kv, "
                "ki and kiv."
            )
        law = PD.parallel
    if (
        table.model is not None
        or table.law == "computed_torque"
        or table.model_term not in (None, "none")
    ):
        settings |= _own_model(table.model or "nominal", model, folder)
    for name in ("ki", "kiv", "integral_time", "kp_unit"):
        if name in settings and name not in getattr(LAWS[table.law], "__dataclass_fields__", {}):
            raise InputError(
                f"controller: the law {table.law!r} has no {name}; pid has ki, cascade has kiv, "
                "servo has kp_unit."
            )
    if has_unknown_gains(table):
        settings["natural_frequency"] = UNKNOWN_BANDWIDTH
    return law(**settings)


def has_unknown_gains(table: ControllerTable | None) -> bool:
    """Whether neither the law nor any of its gains is known."""
    given = ("natural_frequency", "kp", "kv", "Kp", "Kd")
    return table is not None and table.law == "unknown" and not {*given} & table.model_fields_set


def _own_model(source: str, model: DynamicModel, folder: Path) -> dict[str, Any]:
    """The controller's own model and its parameters."""
    if source == "nominal":
        return {"model": model}
    if source.endswith(".json"):
        estimate = load_estimate(existing(source, folder, "controller.model"))
        return {"model": estimate.model, "parameters": estimate.parameters}
    robot = _of_same_joints(model.robot, source, folder, "controller.model")
    own = {effect.name for effect in model.robot.effects} - {each.name for each in robot.effects}
    effects = None if model.effects is None else [each for each in model.effects if each not in own]
    return {"model": DynamicModel(robot, effects)}


def _of_same_joints(robot: Robot, source: str, folder: Path, key: str) -> Robot:
    """Another description of a robot, with the same joints held where it has them."""
    try:
        found = load_named_robot(source, folder, key)
        if found.joint_names == robot.joint_names or not robot.locked:
            return found
    except InputError:
        if not robot.locked:
            raise
    return load_named_robot(source, folder, key, lock=dict(robot.locked))


def load_named_robot(
    source: str,
    folder: Path,
    key: str,
    joints: list[str] | None = None,
    lock: dict[str, float] | None = None,
    passive: list[str] | None = None,
) -> Robot:
    """A robot by shipped name, or from a file that is relative to the study, with the joints that
    move and those that are held.
    """
    if source in shipped_robots() or not ("." in source or "/" in source):
        return load_robot(source, joints, lock, passive)
    return load_robot(existing(source, folder, key), joints, lock, passive)


def method_of(
    name: str, study: StudyFile, controller: Controller | None, folder: Path, **changed: object
) -> Method:
    """The method with the settings of its table; `changed` go before them."""
    gains = {"estimate_gains": True} if has_unknown_gains(study.controller) else {}
    if name == "idim":
        known = None if gains else controller
        return IDIM(controller=known, **_settings(study.idim, folder, changed))
    if name in ("iv", "didim") and controller is None:
        raise InputError(
            f"method {name!r} simulates the loop that the robot was in; describe it in a table "
            "[controller], as far as it "
            'is known (natural_frequency is enough), or use method = "idim" on measured '
            "positions."
        )
    if name == "iv":
        assert controller is not None
        if gains:
            raise InputError(
                "method 'iv' needs the gains of the loop, as far as they are known; the law is "
                '"unknown" and has none: give natural_frequency, or use method = "didim", which '
                "estimates them."
            )
        usual = {**_shared(study.didim, FROM_DIDIM), **_shared(study.idim, FROM_IDIM)}
        return IV(controller=controller, **_settings(study.iv, folder, changed, usual))
    if name == "didim":
        assert controller is not None
        return DIDIM(controller=controller, **_settings(study.didim, folder, changed, gains))
    settings = _settings(study.output_error, folder, changed, gains)
    return OutputError(controller=controller, **settings)


def _shared(table: Table, names: Sequence[str]) -> dict[str, Any]:
    """Settings of another method that hold for this one too, where they are given."""
    return {name: value for name, value in table.given().items() if name in names}


def _settings(
    table: Table,
    folder: Path,
    changed: Mapping[str, object],
    usual: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    settings: dict[str, Any] = {**(usual or {}), **table.given(), **changed}
    initial = settings.get("initial")
    if isinstance(initial, str) and initial.endswith(".json"):
        settings["initial"] = load_estimate(existing(initial, folder, "initial"))
    return settings
