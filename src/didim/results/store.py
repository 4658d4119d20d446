"""Saving and loading: x.json for people and programs, x.npz for the arrays. No pickle, no nan,
nothing lost silently.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from didim.dynamics.model import BaseModel
from didim.errors import InputError, shortened
from didim.output import free, write
from didim.results.estimate import Estimate
from didim.results.prediction import Recipe, Validation
from didim.results.serialisation import (
    controller_of,
    finite,
    history_arrays,
    history_of,
    model_of,
    plain_controller,
    plain_history,
    plain_model,
)
from didim.signals.rows import RowSelection

FORMAT = 1
"""Raised when older files can no longer be read as they are."""

_ARRAYS = ("values", "covariance", "corrected_covariance", "residual_by_joint")
_SCALARS = (
    "residual",
    "rows",
    "freedom",
    "condition",
    "scaled_condition",
    "iterations",
    "status",
    "message",
)


def save(estimate: Estimate, path: str | PathLike[str], overwrite: bool = False) -> Path:
    """Write `path` (.json) and the .npz beside it, each in one move; returns the path of the
    first.
    """
    file = _named(path)
    other = file.with_suffix(".npz")
    for each in (file, other):
        free(each, overwrite)
    arrays = {name: getattr(estimate, name) for name in _ARRAYS} | history_arrays(estimate.history)
    if estimate.standard is not None:
        arrays["standard"] = estimate.standard
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    text = json.dumps(
        _plain(estimate, hashlib.sha256(packed.getvalue()).hexdigest()), indent=1, allow_nan=False
    )
    write({other: packed.getvalue(), file: text.encode()}, overwrite)
    return file


def load_estimate(path: str | PathLike[str]) -> Estimate:
    """The estimate that `Estimate.save` wrote."""
    file = _named(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or "didim_estimate" not in data:
            raise InputError(f"{file.name}: is no saved estimate.")
        packed = file.with_suffix(".npz").read_bytes()
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"{problem.filename}: cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file.name}: is no JSON file: {str(problem).splitlines()[0]}.") from None
    if data["didim_estimate"] != FORMAT:
        raise InputError(
            f"{file.name}: was written in format {data['didim_estimate']}, this version reads "
            f"{FORMAT}; update didim."
        )
    if hashlib.sha256(packed).hexdigest() != data.get("npz_sha256"):
        raise InputError(
            f"{file.with_suffix('.npz').name}: does not belong to {file.name}, or was changed."
        )
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        return _estimate_of(data, arrays)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        IndexError,
        zipfile.BadZipFile,
    ) as problem:
        raise InputError(
            f"{file.name}: is damaged: {type(problem).__name__} {shortened(str(problem))}."
        ) from None


def _named(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike):
        raise InputError(f"An estimate is saved under a path, found {shortened(path)}.")
    file = Path(path)
    if file.suffix.lower() != ".json":
        raise InputError(
            f"{file}: a saved estimate ends in .json (an .npz with its arrays lies beside it)."
        )
    return file


def _plain(estimate: Estimate, digest: str) -> dict[str, Any]:
    recipe, selection = estimate.recipe, estimate.recipe.selection
    content = {
        "didim_estimate": FORMAT,
        "npz_sha256": digest,
        "method": estimate.method,
        "output": estimate.output,
        **{name: getattr(estimate, name) for name in _SCALARS},
        "names": list(estimate.names),
        "values": estimate.values.tolist(),
        "sigma": estimate.sigma.tolist(),
        "relative_sigma": estimate.relative_sigma.tolist(),
        "interval": estimate.interval().tolist(),
        "residual_by_joint": estimate.residual_by_joint.tolist(),
        "eliminated": list(estimate.eliminated),
        "notes": list(estimate.notes),
        "gains": {name: list(pair) for name, pair in estimate.gains.items()},
        "controller": plain_controller(estimate.controller),
        "recipe": {
            "states": recipe.states,
            "cutoff": recipe.cutoff,
            "order": recipe.order,
            "transient": recipe.transient,
            "interpolation": recipe.interpolation,
            "delay": recipe.delay,
            "start": recipe.start
            if recipe.start is None or isinstance(recipe.start, str)
            else [np.asarray(each).tolist() for each in recipe.start],
            "decimation": selection.decimation,
            "decimate": selection.decimate,
            "trim": list(selection.trim),
            "ends": selection.ends,
            "rest_velocity": None
            if selection.rest_velocity is None
            else np.asarray(selection.rest_velocity).tolist(),
        },
        "validation": [
            {
                "experiment": v.experiment,
                "residual": v.residual,
                "residual_by_joint": v.residual_by_joint.tolist(),
                "rows": v.rows,
                "message": v.message,
            }
            for v in estimate.validation
        ],
        "history": plain_history(estimate.history),
        "provenance": dict(estimate.provenance),
        "model": plain_model(estimate.model),
    }
    return finite(content)


def _check(data: dict[str, Any], rest: dict[str, Any]) -> None:
    """Refuse scalars, names and arrays that cannot be an estimate's."""
    numbers = ("residual", "rows", "freedom", "condition", "scaled_condition", "iterations")
    names, b = data["names"], np.size(rest["values"])
    if not all(
        (isinstance(rest[name], int | float) and abs(rest[name]) < 1e300) or rest[name] == np.inf
        for name in numbers
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
    if not (isinstance(rest["status"], str) and isinstance(rest["message"], str)):
        raise ValueError("status and message must be texts")
    if rest["covariance"].shape != (b, b) or rest["corrected_covariance"].shape != (b, b):
        raise ValueError("the covariance has another shape")


def _estimate_of(data: dict[str, Any], arrays: dict[str, Any]) -> Estimate:
    recipe = dict(data["recipe"])
    kept = {
        name: recipe.pop(name)
        for name in ("decimation", "decimate", "trim", "rest_velocity", "ends")
    }
    start = recipe.pop("start")
    model = model_of(data["model"])
    if not isinstance(model, BaseModel):
        raise ValueError("an estimate is of base parameters")
    rest: dict[str, Any] = {name: np.inf if data[name] is None else data[name] for name in _SCALARS}
    rest |= {name: arrays[name] for name in _ARRAYS}
    _check(data, rest)
    return Estimate(
        model=model,
        method=data["method"],
        output=data.get("output", "torque"),
        names=tuple(data["names"]),
        recipe=Recipe(
            selection=RowSelection(**kept),
            start=tuple(start) if isinstance(start, list) else start,
            **recipe,
        ),
        history=history_of(data["history"], arrays),
        controller=controller_of(data["controller"]),
        gains={
            name: (pair[0], np.inf if pair[1] is None else pair[1])
            for name, pair in data["gains"].items()
        },
        eliminated=tuple(data["eliminated"]),
        notes=tuple(data["notes"]),
        validation=tuple(
            Validation(
                v["experiment"],
                np.inf if v["residual"] is None else v["residual"],
                np.array([np.inf if share is None else share for share in v["residual_by_joint"]]),
                v["rows"],
                v.get("message", ""),
            )
            for v in data["validation"]
        ),
        provenance=data["provenance"],
        standard=arrays.get("standard"),
        **rest,
    )
