"""The study that `didim improve` writes: that of before, with what was added to its model, its loop
and its method.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from didim.control.law import Controller
from didim.control.laws import PID, Cascade, ComputedTorque
from didim.improvement.path import Improvement
from didim.results.estimate import Estimate
from didim.robot.effect_tables import effect_table
from didim.study.study import Study
from didim.study.written import plain, rebase, study_lines

_SAME = ("drive_gain", "rate", "velocity", "encoder", "assumed")
"""Keys of [controller] that nothing changes."""

_ELSEWHERE = ("controller", "lack_of_fit")
"""Settings of a method that its table need not have."""


def improved_study(study: Study, found: Improvement, file: Path, model_file: Path) -> str:
    """The text of the improved study, to be written to `file`; where the loop has the identified
    model inside, that is saved as `model_file`.
    """
    data = study.settings.model_dump(exclude_unset=True)
    data.pop("output", None)  # its files are those of the old study
    rebase(data, study.folder, file.parent)
    known = {effect.name for effect in study.model.robot.effects}
    robot = found.model.robot
    added = [effect_table(each, robot) for each in robot.effects if each.name not in known]
    if added:
        data["effect"] = [*data.get("effect", []), *added]
    before, after = study.method(), found.method
    loop = getattr(after, "controller", None)
    if loop is not None:
        if loop is not getattr(before, "controller", None):
            own = _own_model(data["controller"], study, loop, model_file)
            data["controller"] = _controller(data["controller"], loop) | own
        elif data["controller"]["law"] == "unknown":
            data["controller"] |= {"law": "pd"}
    changed = _changed_settings(before, after)
    if changed:
        name = study.settings.method
        data[name] = {**data.get(name, {}), **changed}
    lines = [
        f"# Written by didim improve from {study.name}; comments of that file are not kept.",
        *(f"# {line}".rstrip() for line in str(found).splitlines()),
    ]
    return "\n".join([*lines, "", *study_lines(data)])


def model_inside(study: Study, found: Improvement) -> Estimate | None:
    """The model that the path has put into the loop, as an estimate without its uncertainty; None
    where it has put none there.
    """
    loop = getattr(found.method, "controller", None)
    if loop is None or not _has_new_model(study, loop):
        return None
    names, unknown = loop.model.parameter_names, np.diag(np.full(len(loop.parameters), np.inf))
    return replace(
        found.estimate,
        model=loop.model,
        names=names,
        values=np.asarray(loop.parameters),
        covariance=unknown,
        corrected_covariance=unknown,
        controller=None,
        at_border=(),
        unidentified=(),
    )


def _has_new_model(study: Study, loop: Controller) -> bool:
    before = study.controller
    return loop.model is not None and (before is None or loop.model is not before.model)


def _own_model(
    table: dict[str, Any], study: Study, loop: Controller, model_file: Path
) -> dict[str, Any]:
    """Where the controller's own model is."""
    if _has_new_model(study, loop):
        return {"model": model_file.name}
    return {"model": table["model"]} if "model" in table else {}


def _changed_settings(before: Any, after: Any) -> dict[str, Any]:
    """Settings of the method that differ, as plain data."""
    changed = {}
    for each in fields(after):
        one, other = getattr(before, each.name), getattr(after, each.name)
        if (
            each.name not in ("controller", "lack_of_fit")
            and one is not other
            and not _equal(one, other)
        ):
            changed[each.name] = plain(other)
    return changed


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(np.array_equal(one, other))
    except (TypeError, ValueError):
        return False


def _controller(table: dict[str, Any], loop: Controller) -> dict[str, Any]:
    """The table [controller] of a loop that was changed."""
    laws = {PID: "pid", Cascade: "cascade", ComputedTorque: "computed_torque"}
    found: dict[str, Any] = {"law": laws.get(type(loop), "pd")}
    names = ["natural_frequency", "damping", "inertia", "integral_time", "kp", "kv", "ki", "kiv"]
    names += ["velocity_reference", "saturation", "delay", "model_term"]
    usual = {each.name: each.default for each in fields(loop)}
    for name in names:
        value = getattr(loop, name, None)
        if value is not None and not _equal(value, usual.get(name)):
            found[name] = plain(value)
    return found | {key: table[key] for key in _SAME if key in table}
