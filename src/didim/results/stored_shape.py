"""What the JSON file of a saved estimate must look like: a file that somebody changed is refused
when it is loaded, and not when its summary, report or export is made.

A shape is a type, a list with the one shape of all its entries, a table from keys to shapes (others
may follow), `Table(shape)` for any keys, `Maybe(shape)` where null or nothing may stand, or
`Absent(shape)` where nothing may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST, LARGEST_WHOLE = 1e300, 2**53
"""Numbers of a saved estimate are smaller."""


@dataclass(frozen=True)
class Maybe:
    """The shape, or null, or no such key."""

    shape: Any


@dataclass(frozen=True)
class Absent:
    """The shape, or no such key."""

    shape: Any


@dataclass(frozen=True)
class Table:
    """A table with any keys whose values have the shape."""

    shape: Any


_UNKNOWN = Maybe(float)

_FAILURE = {"kind": str, "detail": str, "time": _UNKNOWN, "joint": Maybe(int)}

_STEP = {
    "residual": _UNKNOWN,
    "fraction": float,
    "guards": [{"kind": str, "names": [str], "failure": Maybe(_FAILURE)}],
    "seconds": _UNKNOWN,
    "stage": Maybe(str),
    "convergence_rate": _UNKNOWN,
    "friction_ratio": _UNKNOWN,
}

_ALONG_MOTION = {"experiment": str, "residual": _UNKNOWN, "residual_by_joint": [_UNKNOWN]}

_VALIDATION = {
    **_ALONG_MOTION,
    "rows": int,
    "message": Maybe(str),
    "record": str,
    "left_out": Absent(float),
    "selected": _UNKNOWN,
    "along_motion": Maybe(_ALONG_MOTION),
    "seen": Absent(float),
    "load": Maybe({"mass": float, "sigma": float, "share": float, "joint": int}),
}

_PREPROCESSING = {
    "states": str,
    "cutoff": _UNKNOWN,
    "order": int,
    "accuracy": Absent(int),
    "transient": float,
    "interpolation": str,
    "delay": float,
    "zero": Absent([float]),
    "shift": Absent([float]),
    "reversals": _UNKNOWN,
    "signs": _UNKNOWN,
}

_SHAPES = Absent(
    [
        {
            "kind": str,
            "size": [float],
            "rotation": [[float]],
            "translation": [float],
            "file": str,
        }
    ]
)

_JOINT = {
    "name": str,
    "kind": str,
    "parent": int,
    "rotation": [[float]],
    "translation": [float],
    "position_limits": [_UNKNOWN],
    "velocity_limit": _UNKNOWN,
    "torque_limit": _UNKNOWN,
    "effects": [str],
    "link": [_UNKNOWN],
    "nominal": Table(_UNKNOWN),
    "link_frame": [[float]],
    "mimic": Maybe({"joint": str, "ratio": float, "offset": float}),
    "passive": Absent(bool),
    "shapes": _SHAPES,
}

_RECORD = {"name": str, "samples": int, "sha256": str}

_COUPLING = {
    "name": str,
    "weights": Table(float),
    "effects": [str],
    "nominal": Table(_UNKNOWN),
}

_SUSPECT = {
    **dict.fromkeys(("name", "group", "unit", "remedy", "setting", "effect"), str),
    **dict.fromkeys(("value", "sigma", "p_value", "share"), _UNKNOWN),
    "joint": Maybe(int),
    "found": bool,
    "alternatives": [str],
    "shapes": Table(float),
}

_LACK_OF_FIT = {
    "reason": str,
    "negligible": bool,
    "level": float,
    "groups": Table(float),
    "shifts": Table(_UNKNOWN),
    "suspects": [_SUSPECT],
}

ESTIMATE = {
    "method": str,
    "output": Maybe(str),
    **dict.fromkeys(
        ("residual", "rows", "freedom", "condition", "scaled_condition", "iterations"), _UNKNOWN
    ),
    "status": str,
    "message": str,
    "names": [str],
    "coloured": [int],
    "eliminated": [str],
    "at_border": Absent([str]),
    "unidentified": Absent([str]),
    "residual_over_noise": Maybe([_UNKNOWN]),
    "notes": [str],
    "lack_of_fit": Absent(_LACK_OF_FIT),
    "tests": Absent(Table({"statistic": _UNKNOWN, "p_value": _UNKNOWN, "meaning": str})),
    "gains": Table([_UNKNOWN]),
    "shapes": Absent(Table([_UNKNOWN])),
    "controller": Maybe({"law": str}),
    "preprocessing": _PREPROCESSING,
    "validation": [_VALIDATION],
    "fitted": Absent([_VALIDATION]),
    "along_motion": Absent([_ALONG_MOTION]),
    "history": [_STEP],
    "provenance": {
        "data": Absent([_RECORD]),
        "held_out": Absent([_RECORD]),
        "files": Absent([{"path": str, "sha256": str}]),
        "versions": Absent(Table(str)),
        "command": Absent(str),
    },
    "model": {
        "robot": {
            "name": str,
            "reference": str,
            "gravity": [float],
            "joints": [_JOINT],
            "couplings": [_COUPLING],
            "effects": Absent([Table(Any)]),
            "drive": Maybe(Table(Any)),
            "shapes": _SHAPES,
        },
        "effects": Maybe([Any]),
        "shapes": Absent(Table(float)),
        "fixed": Maybe(Table(float)),
        "base": bool,
    },
}
"""The whole file, in the present format."""


def check_shape(value: Any, shape: Any, path: str = "") -> None:
    """Refuse a value of another shape; the error names its path."""
    if isinstance(shape, Maybe):
        if value is not None:
            check_shape(value, shape.shape, path)
    elif isinstance(shape, Absent):
        check_shape(value, shape.shape, path)
    elif isinstance(shape, Table):
        for key, each in _checked(value, dict, path).items():
            check_shape(each, shape.shape, f"{path}.{key}")
    elif isinstance(shape, Mapping):
        _checked(value, dict, path)
        for key, inner in shape.items():
            if key in value:
                check_shape(value[key], inner, f"{path}.{key}")
            elif not isinstance(inner, Maybe | Absent):
                raise ValueError(f"{path}.{key} is missing".lstrip("."))
    elif isinstance(shape, list):
        for k, each in enumerate(_checked(value, list, path)):
            check_shape(each, shape[0], f"{path}.{k}")
    elif shape is float or shape is int:
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole and not (shape is float and isinstance(value, float)):
            raise ValueError(f"{path} is no number".lstrip("."))
        if not abs(value) < (LARGEST_WHOLE if whole else LARGEST):
            raise ValueError(f"{path} is too large".lstrip("."))
    elif shape is not Any:
        _checked(value, shape, path)


def check_arrays(
    data: Mapping[str, Any], arrays: Mapping[str, Any], known: tuple[str, ...], n: int, p: int
) -> None:
    """Refuse names, arrays and lists that do not fit a model with the base parameters `known`, `n`
    joints and `p` standard parameters.
    """
    names, b = data["names"], len(data["names"])
    if len(set(names)) < b or not {*names, *data["eliminated"]} <= {*known}:
        raise ValueError("names are not those of the model")
    shapes = {
        "values": (b,),
        "covariance": (b, b),
        "corrected_covariance": (b, b),
        "residual_by_joint": (n,),
        "standard": (p,),
        "plain": (b,),
    }
    for name, array in arrays.items():
        if not np.issubdtype(array.dtype, np.floating) or array.shape != shapes.get(
            name, array.shape
        ):
            raise ValueError(f"the array {name[:80]} has another shape or type")
    if not all(0 <= j < n for j in data["coloured"]):
        raise ValueError("coloured names joints that are not there")
    records = [*data["validation"], *data.get("fitted", []), *data.get("along_motion", [])]
    records += [each["along_motion"] for each in data["validation"] if each.get("along_motion")]
    if any(len(each["residual_by_joint"]) != n for each in records):
        raise ValueError("a record has other joints")
    if len(data.get("residual_over_noise") or [0.0] * n) != n:
        raise ValueError("residual_over_noise has other joints")
    if any(len(pair) != 2 or pair[0] is None for pair in data["gains"].values()):
        raise ValueError("gains must be pairs of value and sigma")


def _checked(value: Any, kind: type, path: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{path} is no {kind.__name__}".lstrip("."))
    return value
