"""An estimate as plain data, and back: the one description that files and `--json` share."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from didim.dynamics.model import BaseModel
from didim.results.consistency import Consistency
from didim.results.estimate import Estimate
from didim.results.hypothesis import plain_tests, tests_of
from didim.results.lack_data import lack_of, plain_lack
from didim.results.lack_of_fit import NOT_TESTED
from didim.results.load_seen import LoadSeen
from didim.results.prediction import Preprocessing
from didim.results.serialisation import (
    controller_of,
    finite,
    history_of,
    model_of,
    plain_controller,
    plain_history,
    plain_model,
)
from didim.results.status import Status
from didim.results.stored_shape import ESTIMATE, check_arrays, check_shape
from didim.results.validation import AlongMotion, Validation
from didim.signals.rows import RowSelection

ARRAYS = ("values", "covariance", "corrected_covariance", "residual_by_joint")
"""That are kept in the .npz file."""

OPTIONAL_ARRAYS = ("standard", "plain")
"""That are kept there where they are known."""

_NUMBERS = ("residual", "rows", "freedom", "condition", "scaled_condition", "iterations")
_SELECTION = ("decimation", "decimate", "trim", "rest_velocity", "ends")
_FORMAT_1 = {"share": "fraction", "contraction": "convergence_rate", "drag": "friction_ratio"}
"""Keys of a step that were renamed."""


def estimate_data(estimate: Estimate) -> dict[str, Any]:
    """The estimate as numbers, texts, lists and tables; null for what is not finite."""
    data = {
        "method": estimate.method,
        "output": estimate.output,
        **{name: getattr(estimate, name) for name in _NUMBERS},
        "status": str(estimate.status),
        "message": estimate.message,
        "names": list(estimate.names),
        "values": estimate.values.tolist(),
        "sigma": estimate.sigma.tolist(),
        "relative_sigma": estimate.relative_sigma.tolist(),
        "interval": estimate.interval().tolist(),
        "residual_by_joint": estimate.residual_by_joint.tolist(),
        "coloured": list(estimate.coloured),
        "eliminated": list(estimate.eliminated),
        "at_border": list(estimate.at_border),
        "fixed": list(estimate.fixed),
        "consistency": _plain_consistency(estimate.consistency),
        "notes": list(estimate.notes),
        "gains": {name: list(pair) for name, pair in estimate.gains.items()},
        "shapes": {name: list(pair) for name, pair in estimate.shapes.items()},
        "controller": plain_controller(estimate.controller),
        "preprocessing": _plain_preprocessing(estimate.preprocessing),
        "residual_over_noise": _listed(estimate.residual_over_noise),
        "unidentified": list(estimate.unidentified),
        "validation": [_plain_validation(each) for each in estimate.validation],
        "fitted": [_plain_validation(each) for each in estimate.fitted],
        "along_motion": [_plain_along(each) for each in estimate.along_motion],
        "lack_of_fit": plain_lack(estimate.lack),
        "tests": plain_tests(estimate.tests),
        "history": plain_history(estimate.history),
        "provenance": dict(estimate.provenance),
        "model": plain_model(estimate.model),
    }
    return finite(data)


def current(data: dict[str, Any]) -> dict[str, Any]:
    """Data of any format that is read, with the keys of the present one."""
    if data["didim_estimate"] != 1:
        return data
    steps = [{_FORMAT_1.get(key, key): step[key] for key in step} for step in data["history"]]
    for step in steps:
        sentences = [
            {"kind": "sentence", "names": [text], "failure": None} for text in step["guards"]
        ]
        step["guards"] = sentences
    held_out = data["provenance"].get("held_out", [])
    known = held_out if len(held_out) == len(data["validation"]) else []
    records = [each.get("sha256", "") for each in known] or [""] * len(data["validation"])
    validation = [
        {**each, "record": record} for each, record in zip(data["validation"], records, strict=True)
    ]
    return {
        **data,
        "preprocessing": data["recipe"],
        "history": steps,
        "validation": validation,
        "coloured": [],
    }


def estimate_of(data: dict[str, Any], arrays: dict[str, Any]) -> Estimate:
    """The estimate that `estimate_data` described; `arrays` hold its ARRAYS and its history."""
    check_shape(data, ESTIMATE)
    model = model_of(data["model"])
    if not isinstance(model, BaseModel):
        raise ValueError("an estimate is of base parameters")
    check_arrays(
        data, arrays, model.parameter_names, model.robot.n, len(model.full.parameter_names)
    )
    rest: dict[str, Any] = {name: _number(data[name]) for name in _NUMBERS}
    rest |= {name: arrays[name] for name in ARRAYS}
    rest |= {name: arrays.get(name) for name in OPTIONAL_ARRAYS}
    return Estimate(
        model=model,
        method=data["method"],
        output=data.get("output", "torque"),
        names=tuple(data["names"]),
        status=Status(data["status"]),
        message=data["message"],
        preprocessing=_preprocessing_of(data["preprocessing"]),
        coloured=tuple(int(j) for j in data["coloured"]),
        history=history_of(data["history"], arrays),
        controller=controller_of(data["controller"]),
        gains={name: (pair[0], _number(pair[1])) for name, pair in data["gains"].items()},
        shapes={name: (pair[0], _number(pair[1])) for name, pair in data.get("shapes", {}).items()},
        eliminated=tuple(data["eliminated"]),
        at_border=tuple(data.get("at_border", ())),
        notes=tuple(data["notes"]),
        residual_over_noise=_array(data.get("residual_over_noise")),
        unidentified=tuple(data.get("unidentified", [])),
        validation=tuple(_validation_of(each) for each in data["validation"]),
        fitted=tuple(_validation_of(each) for each in data.get("fitted", [])),
        along_motion=tuple(_along_of(each) for each in data.get("along_motion", [])),
        lack=lack_of(data["lack_of_fit"]) if "lack_of_fit" in data else NOT_TESTED,
        tests=tests_of(data.get("tests", {})),
        provenance=data["provenance"],
        **rest,
    )


def _number(value: Any) -> Any:
    """null is what was not finite."""
    return np.inf if value is None else value


def _listed(values: Any) -> Any:
    return None if values is None else values.tolist()


def _array(values: Any) -> Any:
    return None if values is None else np.array([_number(value) for value in values], dtype=float)


def _plain_along(given: AlongMotion) -> dict[str, Any]:
    by_joint = given.residual_by_joint.tolist()
    return {
        "experiment": given.experiment,
        "residual": given.residual,
        "residual_by_joint": by_joint,
    }


def _along_of(data: dict[str, Any]) -> AlongMotion:
    by_joint = _array(data["residual_by_joint"])
    return AlongMotion(data["experiment"], _number(data["residual"]), by_joint)


def _plain_validation(given: Validation) -> dict[str, Any]:
    along = given.along_motion
    return {
        "experiment": given.experiment,
        "residual": given.residual,
        "residual_by_joint": given.residual_by_joint.tolist(),
        "rows": given.rows,
        "message": given.message,
        "record": given.record,
        "left_out": given.left_out,
        "selected": given.selected,
        "along_motion": None if along is None else _plain_along(along),
        "seen": given.seen,
        "load": None if given.load is None else asdict(given.load),
    }


def _validation_of(data: dict[str, Any]) -> Validation:
    along, load = data.get("along_motion"), data.get("load")
    return Validation(
        data["experiment"],
        _number(data["residual"]),
        _array(data["residual_by_joint"]),
        data["rows"],
        data.get("message", ""),
        data["record"],
        data.get("left_out", 0.0),
        _number(data.get("selected")),
        None if along is None else _along_of(along),
        data.get("seen", 0.0),
        None if load is None else LoadSeen(**load),
    )


def _plain_consistency(found: Consistency) -> dict[str, Any]:
    return {
        "physical": found.physical,
        "reason": found.reason,
        "links": [
            {"joint": each.joint, "lack": each.lack, "lacking_mass": each.lacking_mass}
            for each in found.links
        ],
        "negative": dict(found.negative),
    }


def _plain_preprocessing(given: Preprocessing) -> dict[str, Any]:
    selection, start = given.selection, given.start
    rest = selection.rest_velocity
    by_name = start is None or isinstance(start, str)
    return {
        "states": given.states,
        "cutoff": given.cutoff,
        "order": given.order,
        "accuracy": given.accuracy,
        "transient": given.transient,
        "interpolation": given.interpolation,
        "delay": given.delay,
        "zero": list(map(float, given.zero)),
        "shift": list(map(float, given.shift)),
        "reversals": given.reversals,
        "signs": given.signs,
        "start": start if by_name else [np.asarray(each).tolist() for each in start or ()],
        "decimation": selection.decimation,
        "decimate": selection.decimate,
        "trim": list(selection.trim),
        "ends": selection.ends,
        "rest_velocity": None if rest is None else np.asarray(rest).tolist(),
    }


def _preprocessing_of(data: dict[str, Any]) -> Preprocessing:
    rest = {name: value for name, value in data.items() if name not in _SELECTION}
    selection = RowSelection(**{name: data[name] for name in _SELECTION})
    start = rest.pop("start")
    if rest.get("accuracy") == 8:  # files from before the key: what "auto" meant
        rest.setdefault("reversals", rest["cutoff"])
    if not (start is None or isinstance(start, str | list)):
        raise ValueError("preprocessing.start is no state")
    start = tuple(start) if isinstance(start, list) else start
    for name in ("zero", "shift"):
        rest[name] = tuple(rest.get(name, ()))
    return Preprocessing(selection=selection, start=start, **rest)
