"""Pointers to records: a compiled function takes a record of arrays by its address.

Numba hands a record to a function field by field, an array as seven values and more, and takes it
apart anew at each call from Python: for the hundred arrays of a simulation that is as much work as
the inertia matrix, and much code. `StructMemory` keeps the record as a C struct in memory of its
own; the kernel that `struct_reader` makes reads from its address what is used.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

_tools: Any = cgutils
_types: Any = types

Record = TypeVar("Record", bound=tuple[Any, ...])


class StructMemory(Generic[Record]):
    """A record (a NamedTuple of a Numba type) as a C struct: `address` is valid as long as this
    object lives. Arrays are shared with the record, numbers are copied.
    """

    def __init__(self, kind: Any, record: Record) -> None:
        self.record, self._starts, words = record, dict[str, tuple[int, _Field]](), list[int]()
        for field, value in zip(_members(kind), record, strict=True):
            self._starts[field.name] = len(words), field
            words += _words(field, value)
        self._memory = np.array(words, dtype=np.int64)
        self.address = int(self._memory.ctypes.data)

    def replace(self, **fields: Any) -> None:
        """Put other values into fields of the record."""
        old = self.record
        self.record = cast(Any, old)._replace(**fields)
        for name, value in fields.items():
            if value is getattr(old, name):  # it is there
                continue
            start, field = self._starts[name]
            words = _words(field, value)
            self._memory[start : start + len(words)] = words


class _Field(NamedTuple):
    """How a field of a Numba type is laid out, found once for each type."""

    name: str
    kind: Any
    dtype: Any  # of an array, None: it is none
    members: tuple[Any, ...] | None  # fields of a tuple
    real: bool


_of_records: dict[int, tuple[Any, tuple[_Field, ...]]] = {}
"""By the identity of a type, which is kept: its hash is that of all types within."""


def _members(kind: Any) -> tuple[_Field, ...]:
    """The fields of a record's type."""
    if id(kind) not in _of_records:
        _of_records[id(kind)] = kind, _field(kind, "").members or ()
    return _of_records[id(kind)][1]


def _field(kind: Any, name: str) -> _Field:
    if isinstance(kind, _types.Array):
        return _Field(name, kind, as_dtype(kind.dtype), None, False)
    if isinstance(kind, _types.BaseTuple):
        names = map(str, getattr(kind, "fields", range(len(kind.types))))
        return _Field(name, kind, None, tuple(map(_field, kind.types, names)), False)
    return _Field(name, kind, None, None, isinstance(kind, _types.Float))


def _words(field: _Field, value: Any) -> list[int]:
    """A value as Numba hands it to a function: 64 bits each."""
    if field.dtype is not None:
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != field.dtype
            or value.ndim != field.kind.ndim
            or not value.flags.c_contiguous
        ):
            raise TypeError(f"{field.name} must be a contiguous array of the type {field.kind}")
        where = value.__array_interface__["data"][0]
        return [0, 0, value.size, value.itemsize, where, *value.shape, *value.strides]
    if field.members is not None:
        words = list[int]()
        for inner, each in zip(field.members, value, strict=True):
            words += _words(inner, each)
        return words
    return [struct.unpack("q", struct.pack("d", value))[0] if field.real else int(value)]


def struct_reader(record: Any, part: Any = None) -> Callable[[int], Any]:
    """The kernel that reads a record of this Numba type from the address of a `StructMemory`; or
    only the fields of a smaller record `part`, by their names.
    """
    part = record if part is None else part

    @intrinsic
    def read(typing: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
        del typing

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del signature
            layout = ir.LiteralStructType(context.get_arg_packer([record]).argument_types)
            struct = builder.inttoptr(arguments[0], layout.as_pointer())
            members, first = {}, 0
            for name, kind in zip(record.fields, record.types, strict=True):
                count = len(context.get_arg_packer([kind]).argument_types)
                members[name] = range(first, first + count)
                first += count
            loaded = [
                builder.load(_tools.gep_inbounds(builder, struct, 0, k))
                for name in part.fields
                for k in members[name]
            ]
            return context.get_arg_packer([part]).from_arguments(builder, loaded)[0]

        return part(address), generate

    return cast(Callable[[int], Any], read)
