"""Pointers to records: a compiled function takes a record of arrays by its address.

Numba hands a record to a function field by field, an array as seven values and more: for the
hundred arrays of a simulation that is as much work as the inertia matrix, and much code.
`StructMemory` keeps the record as a C struct in memory of its own; the kernel that `struct_reader`
makes reads from its address what is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import numpy as np

from didim.jit.deferred import intrinsic
from didim.jit.types import Record, address

Tuple = TypeVar("Tuple", bound=tuple[Any, ...])


class StructMemory(Generic[Tuple]):
    """A record (a NamedTuple of a type) as a C struct: `address` is valid as long as this object
    lives. Arrays are shared with the record, numbers are copied.
    """

    def __init__(self, kind: Record, record: Tuple) -> None:
        self.record, words = record, list[int]()
        self._starts = dict[str, tuple[int, Any]]()
        for name, each, value in zip(kind.names, kind.kinds, record, strict=True):
            self._starts[name] = len(words), each
            words += each.words(value, name)
        self._memory = np.array(words, dtype=np.int64)
        self.address = address(self._memory)

    def replace(self, **fields: Any) -> None:
        """Put other values into fields of the record."""
        old = self.record
        self.record = cast(Any, old)._replace(**fields)
        for name, value in fields.items():
            if value is getattr(old, name):  # it is there
                continue
            start, kind = self._starts[name]
            words = kind.words(value, name)
            self._memory[start : start + len(words)] = words


def struct_reader(record: Record, part: Record | None = None) -> Callable[[int], Any]:
    """The kernel that reads a record of this type from the address of a `StructMemory`; or only
    the fields of a smaller record `part`, by their names.
    """
    return cast(
        Callable[[int], Any], intrinsic("intrinsics", "struct_reader", record, part or record)
    )
