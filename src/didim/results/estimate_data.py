"""An estimate as plain data, and back: the one description that files and `--json` share."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.dynamics.model import BaseModel
from didim.results.estimate import Estimate
from didim.results.prediction import Preprocessing, Validation
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
from didim.signals.rows import RowSelection

ARRAYS = ("values", "covariance", "corrected_covariance", "residual_by_joint")
"""That are kept in the .npz file."""

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
        "notes": list(estimate.notes),
        "gains": {name: list(pair) for name, pair in estimate.gains.items()},
        "controller": plain_controller(estimate.controller),
        "preprocessing": _plain_preprocessing(estimate.preprocessing),
        "validation": [
            {
                "experiment": each.experiment,
                "residual": each.residual,
                "residual_by_joint": each.residual_by_joint.tolist(),
                "rows": each.rows,
                "message": each.message,
                "record": each.record,
            }
            for each in estimate.validation
        ],
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
    model = model_of(data["model"])
    if not isinstance(model, BaseModel):
        raise ValueError("an estimate is of base parameters")
    rest: dict[str, Any] = {name: _number(data[name]) for name in _NUMBERS}
    rest |= {name: arrays[name] for name in ARRAYS}
    _check(data, rest)
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
        eliminated=tuple(data["eliminated"]),
        notes=tuple(data["notes"]),
        validation=tuple(
            Validation(
                each["experiment"],
                _number(each["residual"]),
                np.array([_number(value) for value in each["residual_by_joint"]]),
                each["rows"],
                each.get("message", ""),
                each["record"],
            )
            for each in data["validation"]
        ),
        provenance=data["provenance"],
        standard=arrays.get("standard"),
        **rest,
    )


def _number(value: Any) -> Any:
    """null is what was not finite."""
    return np.inf if value is None else value


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
    start = tuple(start) if isinstance(start, list) else start
    return Preprocessing(selection=selection, start=start, **rest)


def _check(data: dict[str, Any], rest: dict[str, Any]) -> None:
    """Refuse scalars, names and arrays that cannot be an estimate's."""
    names, b = data["names"], np.size(rest["values"])
    if not all(
        (isinstance(rest[name], int | float) and abs(rest[name]) < 1e300) or rest[name] == np.inf
        for name in _NUMBERS
    ):
        raise ValueError("a figure is no number")
    if not (
        isinstance(names, list) and all(isinstance(name, str) for name in names) and len(names) == b
    ):
        raise ValueError("names and values differ")
    origin = data["provenance"]
    lists = (
        [origin.get(key, []) for key in ("data", "held_out", "files")]
        if isinstance(origin, dict)
        else [None]
    )
    if not all(
        isinstance(each, list) and all(isinstance(entry, dict) for entry in each) for each in lists
    ):
        raise ValueError("the provenance is no table")
    if not (isinstance(data["status"], str) and isinstance(data["message"], str)):
        raise ValueError("status and message must be texts")
    if rest["covariance"].shape != (b, b) or rest["corrected_covariance"].shape != (b, b):
        raise ValueError("the covariance has another shape")
