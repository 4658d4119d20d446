"""What objects consist of, for their hashes: functions, classes and modules by the code of the
user, any other object by what a pickle of it would have.
"""

from __future__ import annotations

import copyreg
import io
import logging
import sys
from functools import cached_property, partial
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from didim.errors import InputError, shortened
from didim.fleet.carried import plain_values
from didim.fleet.libraries import file_hash, file_of, has_source, is_own_class, stamp
from didim.fleet.named import cells_of, code_parts, named_by

Parts = list[Any]

_WITHOUT_CONTENT = ("_thread", "_weakrefset", "multiprocessing.synchronize", "weakref")
"""Modules of locks and of references that keep nothing alive."""

_OF_CLASSES = {
    "__dict__",
    "__weakref__",
    "__doc__",
    "__module__",
    "__annotations__",
    "__annotate_func__",
    "__annotations_cache__",
    "__dataclass_fields__",  # their defaults are in __init__
    "__dataclass_params__",
    "__firstlineno__",
    "__signature__",
    "__slotnames__",  # kept by copyreg after the first copy
    "__static_attributes__",
    "_abc_impl",
}
"""Attributes that Python gives to classes, and that no result depends on."""

_OF_PYDANTIC, _FIELDS = "__pydantic_", "__pydantic_fields__"


def content_of(value: Any) -> Parts:
    """Bytes, and other values."""
    if isinstance(value, FunctionType):
        return _of_function(value)
    if isinstance(value, CodeType):
        return code_parts(value)
    if isinstance(value, type):
        return _of_class(value)
    if isinstance(value, ModuleType):
        name = value.__name__
        if not has_source(name):
            return [name.encode(), stamp(name)]
        return [name.encode(), file_hash(file_of(name)), plain_values(value)]
    if isinstance(value, logging.Logger | logging.Handler):
        return [str(value.name).encode()]
    if isinstance(value, MethodType | BuiltinFunctionType) and _is_global_of_library(value):
        return [value.__name__.encode(), stamp(type(value.__self__).__module__)]
    if type(value) is partial:
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, cached_property):
        return [value.func]
    if isinstance(value, io.IOBase) and not isinstance(value, io.BytesIO | io.StringIO):
        return _of_stream(value)
    if isinstance(value, BuiltinFunctionType) and not _has_state(value.__self__):
        return [f"{value.__module__}.{value.__qualname__}".encode(), stamp(value.__module__)]
    if isinstance(value, GetSetDescriptorType | MemberDescriptorType):
        return [value.__qualname__.encode()]
    if type(value).__module__ in _WITHOUT_CONTENT:
        return []
    wrapped = vars(value).get("__wrapped__") if hasattr(value, "__dict__") else None
    if isinstance(wrapped, FunctionType) and not is_own_class(type(value)):
        # such as by functools.cache or numba.njit, whose pickles differ from process to process
        return [wrapped, getattr(value, "targetoptions", None)]
    known = _name_in_library(value)
    return _of_object(value) if known is None else known


def _has_state(owner: object) -> bool:
    """Whether what a compiled function belongs to is more than the module that it is in."""
    return owner is not None and type(owner).__name__ not in ("module", "PyCapsule")


def _is_global_of_library(method: MethodType | BuiltinFunctionType) -> bool:
    """Whether a bound method is a function of a library to its users, such as `random.gauss`: its
    object is of another state in every process.
    """
    owner = type(method.__self__).__module__
    module = sys.modules.get(owner)
    is_known = module is not None and vars(module).get(method.__name__) is method
    return is_known and not has_source(owner)


def _name_in_library(value: Any) -> Parts | None:
    """The name of an object that a library has made, such as `scipy.stats.norm`, whose state
    differs from process to process; None: it is none.
    """
    owner = type(value).__module__
    module = sys.modules.get(owner) if isinstance(owner, str) else None
    if module is None or has_source(owner):
        return None
    names = (name for name, each in [*vars(module).items()] if each is value)
    return next(([f"{owner}.{name}".encode(), stamp(owner)] for name in names), None)


def _of_function(function: FunctionType) -> Parts:
    """One of a library by its name, unless a call has made it, with variables of the user, or
    `exec`, without a module.
    """
    module, name = function.__module__, function.__qualname__
    full = f"{module}.{name}".encode()
    is_named = module not in (None, "builtins") and "<" not in name
    if is_named and not has_source(module):
        return [full, stamp(module)]
    return [
        full,
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        [None if isinstance(each, ModuleType) else each for each in cells_of(function)],
        vars(function),
        *named_by(function),
    ]


def _of_class(kind: type) -> Parts:
    name = f"{kind.__module__}.{kind.__qualname__}".encode()
    if not is_own_class(kind):
        return [name, stamp(kind.__module__)]
    kept = {
        key: each
        for key, each in vars(kind).items()
        if key not in _OF_CLASSES and (key == _FIELDS or not key.startswith(_OF_PYDANTIC))
    }
    return [name, kind.__bases__, kept]


def _of_stream(stream: io.IOBase) -> Parts:
    """What the disk has of a file that is open for reading."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str) or stream.closed or not stream.readable():
        return []
    return [file_hash(Path(name))]


def _of_object(value: Any) -> Parts:
    """What a pickle would have: how the object is made, its state and its elements."""
    kind = type(value)
    try:
        reduce = copyreg.dispatch_table.get(kind)
        made = value.__reduce_ex__(4) if reduce is None else reduce(value)
    except Exception as problem:
        name, module = (getattr(value, key, None) for key in ("__name__", "__module__"))
        if callable(value) and isinstance(name, str) and not has_source(module):
            return [f"{module}.{name}".encode(), stamp(module)]  # such as a function of Boost
        raise InputError(
            f"{shortened(value)} has no content that could be compared with that of another call "
            f"({shortened(str(problem))}); make it inside of the function that uses it."
        ) from None
    if isinstance(made, str):
        return [made.encode(), stamp(getattr(value, "__module__", None))]
    function, arguments, state, elements, items = (*made, None, None, None)[:5]
    return [
        function,
        arguments,
        state,
        [*(elements or ())],
        dict(items or ()),
    ]
