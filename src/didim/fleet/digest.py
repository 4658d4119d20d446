"""A hash of what a task computes with, the same in every process: it says which rows a folder has
already.

Plain data and didim's own objects are written into one hash. Functions, classes and other objects
have a hash each, made once, since they may refer to each other in many ways, also in cycles.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from types import FunctionType, MappingProxyType, ModuleType, NoneType
from typing import Any

import numpy as np
from pydantic import BaseModel

from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, shortened
from didim.fleet.carried import Values, plain_values
from didim.fleet.content import content_of
from didim.fleet.libraries import has_source, is_library, is_own_class
from didim.fleet.named import values_of
from didim.results.serialisation import plain_model

_TABLES = (dict, MappingProxyType)


def digest(value: Any) -> str:
    """SHA-256 over the content of a value: numbers, arrays, models, methods, functions with what
    they call and name.
    """
    return digest_and_values(value)[0]


def digest_and_values(value: Any) -> tuple[str, Values]:
    """The same, and the values that functions in it take from modules of the user."""
    content, digester = hashlib.sha256(), _Digester()
    try:
        digester.feed(content, value)
    except InputError:
        raise
    except RecursionError:
        raise InputError(
            f"{shortened(value)} is nested too deeply to be compared with that of another call."
        ) from None
    except Exception as problem:  # objects of the user may do anything where they are looked at
        raise InputError(
            f"{shortened(value)} cannot be compared with that of another call "
            f"({type(problem).__name__}: {shortened(str(problem))}); make it inside of a function."
        ) from None
    return content.hexdigest(), digester.values


class _Digester:
    """What one hash has met so far."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        """From the identity of values that are being written to their depth."""
        self._known: dict[int, bytes] = {}
        """From the identity of objects to their hashes."""
        self._kept: list[Any] = []
        """These objects, so that no other gets their identity."""
        self.values: Values = {}
        """What functions take from modules of the user."""

    def feed(self, content: Any, value: Any) -> None:
        """Add one value, its type before it, so that 1, 1.0, "1" and [1] differ."""
        kind = type(value)
        known_class = b""
        if is_own_class(kind):
            known_class = self._hashed(kind)  # before the value: the same wherever it is met
        leaf = _leaf(value)
        if leaf is not None:
            content.update(_head(kind) + known_class + _framed(leaf) + b"</>")
        elif id(value) in self._open:
            content.update(f"<cycle {len(self._open) - self._open[id(value)]}>".encode())
        elif (parts := _plain_parts(value)) is None:
            content.update(self._hashed(value, known_class))
        else:
            content.update(_head(kind) + known_class)
            self._feed_parts(content, value, parts)

    def _feed_parts(self, content: Any, value: Any, parts: Any) -> None:
        self._open[id(value)] = len(self._open)
        if parts is value and isinstance(value, set | frozenset):
            parts = sorted(self._own(each) for each in value)
        elif isinstance(parts, _TABLES):  # their order is what a function sees
            parts = [each for pair in parts.items() for each in pair]
        for part in parts:
            if isinstance(part, bytes):
                content.update(_framed(part))
            else:
                self.feed(content, part)
        content.update(b"</>")
        del self._open[id(value)]

    def _hashed(self, value: Any, known_class: bytes = b"") -> bytes:
        """The hash of an object, made once; or how far up it is being made."""
        place = id(value)
        if place in self._open:
            return f"<cycle {len(self._open) - self._open[place]}>".encode()
        if place not in self._known:
            content = hashlib.sha256(_head(type(value)) + known_class)
            self._kept.append(value)
            self._feed_parts(content, value, content_of(value))
            if isinstance(value, FunctionType) and not is_library(str(value.__module__)):
                self.values |= values_of(value)
            elif isinstance(value, ModuleType) and has_source(value.__name__):
                self.values |= plain_values(value)
            self._known[place] = content.digest()
        return self._known[place]

    def _own(self, value: Any) -> bytes:
        """The hash of a value by itself, as text: whatever was met before it, since elements of a
        set come in any order, and hashes of a cycle depend on where it was entered.
        """
        content, alone = hashlib.sha256(), _Digester()
        alone._open, alone.values = self._open, self.values
        alone.feed(content, value)
        return content.hexdigest().encode()


def _head(kind: type) -> bytes:
    return f"<{kind.__module__}.{kind.__qualname__}>".encode()


def _framed(content: bytes) -> bytes:
    return f"{len(content)}:".encode() + content


def _leaf(value: Any) -> bytes | None:
    """The content of a value that has no parts; None: it has."""
    kind = type(value)  # one of a class of its own may have more
    if kind in (NoneType, bool, int, str) or isinstance(value, PurePath):
        return str(value).encode("utf-8", "surrogatepass")
    if kind is float:
        return float.hex(value).encode()
    return bytes(value) if kind is bytes else None


def _plain_parts(value: Any) -> Any:
    """What plain data and didim's own objects consist of: bytes, and other values; None where it is
    another object.
    """
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return _array_parts(np.ascontiguousarray(value))
    if isinstance(value, Enum):
        return [str(value.name or value.value).encode()]
    if type(value) in (list, tuple, set, frozenset, *_TABLES):
        return value
    if isinstance(value, TorqueModel):
        return [plain_model(value)]
    is_own = type(value).__module__.partition(".")[0] == "didim"
    if is_own and isinstance(value, BaseModel):
        return [value.model_dump(exclude_unset=True)]
    if is_own and is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name)) for each in fields(value) if each.init]
    return None


def _array_parts(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.hasobject or array.dtype.kind == "T":  # their memory has addresses
        return [f"{array.dtype}{array.shape}".encode(), array.tolist()]
    names = [] if array.dtype.names is None else [repr(array.dtype.descr).encode()]
    return [f"{array.dtype.str}{array.shape}".encode(), *names, array.tobytes()]
