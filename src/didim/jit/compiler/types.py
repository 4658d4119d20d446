"""Numba's types, made from those of `jit.types`."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types
from numba.core.registry import cpu_target

from didim.jit.types import Array, Kind, Nothing, Number, Pointer, Record, Signature

_types: Any = types
_target: Any = cpu_target


@cache
def numba_type(kind: Kind) -> Any:
    """Numba's type of the same name."""
    match kind:
        case Number(name):
            return getattr(_types, name)
        case Array(number, dimensions):
            return _types.Array(numba_type(number), dimensions, "C")
        case Record(record, kinds):
            fields = [numba_type(each) for each in kinds]
            if all(field == fields[0] for field in fields):
                return _types.NamedUniTuple(fields[0], len(fields), record)
            return _types.NamedTuple(fields, record)
        case Pointer(number):
            return _types.CPointer(numba_type(number))
        case Nothing():
            return _types.none
        case _:
            raise TypeError(f"{kind!r} is not a type of kernels.")


def numba_signature(signature: Signature) -> tuple[tuple[Any, ...], Any]:
    """Numba's types of the arguments and of the result."""
    return tuple(map(numba_type, signature.arguments)), numba_type(signature.result)


def type_of(value: Any) -> Any:
    """Numba's type of an inner kernel or an intrinsic, which may have been made just now."""
    _target.typing_context.refresh()
    return _target.typing_context.resolve_value_type(value)
