"""A hash of what a task computes with, the same in every process: it says which rows a folder has
already.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from pydantic import BaseModel

from didim.dynamics.torque import TorqueModel
from didim.results.serialisation import plain_model


def digest(value: Any) -> str:
    """SHA-256 over the content of a value: numbers, arrays, models, methods, functions."""
    content = hashlib.sha256()
    _feed(content, value)
    return content.hexdigest()


def _feed(content: Any, value: Any) -> None:
    """Add one value, its type before it, so that 1, 1.0, "1" and [1] differ."""
    content.update(f"<{type(value).__module__}.{type(value).__qualname__}>".encode())
    for part in _parts(value):
        if isinstance(part, bytes):
            content.update(f"{len(part)}:".encode() + part)
        else:
            _feed(content, part)
    content.update(b"</>")


def _parts(value: Any) -> list[Any]:
    """What a value consists of: bytes, and other values."""
    if value is None or isinstance(value, bool | int | str | PurePath):
        return [str(value).encode("utf-8", "surrogatepass")]
    if isinstance(value, float):
        return [value.hex().encode()]
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype != object:
            return [f"{array.dtype.str}{array.shape}".encode(), array.tobytes()]
        return [array.tolist()]
    if isinstance(value, Enum):
        return [value.name.encode()]
    if isinstance(value, list | tuple):
        return [*value]
    if isinstance(value, set | frozenset):
        return sorted(digest(each).encode() for each in value)
    if isinstance(value, Mapping):
        return [each for key in sorted(value, key=str) for each in (key, value[key])]
    return _of_object(value)


def _of_object(value: Any) -> list[Any]:
    if isinstance(value, TorqueModel):
        return [plain_model(value)]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__self__, value.__name__.encode()]
    if isinstance(value, FunctionType):
        cells = [each.cell_contents for each in value.__closure__ or ()]
        name = f"{value.__module__}.{value.__qualname__}".encode()
        return [name, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_consts, value.co_names]
    if isinstance(value, type):
        return [f"{value.__module__}.{value.__qualname__}".encode()]
    if isinstance(value, BaseModel):
        return [value.model_dump(exclude_unset=True)]
    if is_dataclass(value):
        return [(each.name, getattr(value, each.name)) for each in fields(value) if each.init]
    if hasattr(value, "__dict__"):
        return [vars(value)]
    return [pickle.dumps(value)]
