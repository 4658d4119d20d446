"""Types of what kernels are handed, for their signatures, and how each value is handed over.

They stand for Numba's types of the same names, which `compiler.types` makes of them: a process that
finds all its kernels compiled does without Numba. A value is handed over as words of 64 bits, in
the order in which Numba passes the parts of such a value to a function.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

_addressof, _first_byte = ctypes.addressof, ctypes.c_char.from_buffer


class Kind(Protocol):
    """A type of Numba's."""

    def __hash__(self) -> int: ...

    def words(self, value: Any, name: str) -> list[int]:
        """The words of a value; `name` is for the message where it is of another type."""
        ...


@dataclass(frozen=True)
class Number:
    """A number; `name` is Numba's. `float64[:, ::1]` is a contiguous array of two dimensions,
    `float64(int64)` a signature.
    """

    name: str

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> Array:
        *others, last = axes if isinstance(axes, tuple) else (axes,)
        if last != slice(None, None, 1) or any(each != slice(None) for each in others):
            raise TypeError("Arrays of kernels are contiguous: float64[:, ::1].")
        return Array(self, len(others) + 1)

    def __call__(self, *arguments: Kind) -> Signature:
        """The signature with this result."""
        return Signature(self, arguments)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's."""
        return np.dtype(self.name.removesuffix("ean"))

    def words(self, value: Any, name: str) -> list[int]:
        """One word."""
        del name
        if self.name == "float64":
            return [struct.unpack("q", struct.pack("d", value))[0]]
        if self.name == "boolean":
            return [bool(value)]
        return [int(value)]

    def value(self, word: int) -> float:
        """The number in a word."""
        if self.name == "float64":
            return float(struct.unpack("d", struct.pack("q", word))[0])
        return word


@dataclass(frozen=True)
class Array:
    """A contiguous array."""

    number: Number
    dimensions: int

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        return self.number.dtype

    def words(self, value: Any, name: str) -> list[int]:
        """Size, address, shape and strides."""
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != self._dtype
            or value.ndim != self.dimensions
            or not value.flags.c_contiguous
        ):
            raise TypeError(
                f"{name} must be a contiguous array of {self.number.name} with "
                f"{self.dimensions} dimensions."
            )
        # two words for the memory manager, which does not know it
        return [0, 0, value.size, value.itemsize, address(value), *value.shape, *value.strides]


@dataclass(frozen=True)
class Record:
    """A NamedTuple whose fields have the given types."""

    record: type
    kinds: tuple[Kind, ...]
    lasting: bool = False
    """Whether the same one is handed over at call after call, so that its words are kept."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the fields."""
        return self.record._fields  # type: ignore[attr-defined]

    def words(self, value: Any, name: str) -> list[int]:
        """Those of its fields, one after the other."""
        kind_of_value: type = type(value)
        if kind_of_value is not self.record:
            raise TypeError(f"{name} must be a {self.record.__name__}.")
        found = list[int]()
        for kind, each, field in zip(self.kinds, value, self.names, strict=True):
            found += kind.words(each, field)
        return found


@dataclass(frozen=True)
class Nothing:
    """None, as an argument or as a result: `void(int64)` is a signature."""

    def __call__(self, *arguments: Kind) -> Signature:
        """The signature with this result."""
        return Signature(self, arguments)

    def words(self, value: Any, name: str) -> list[int]:
        """One word, of no meaning."""
        if value is not None:
            raise TypeError(f"{name} must be None.")
        return [0]

    def value(self, word: int) -> None:
        """None, whatever the word."""
        del word


@dataclass(frozen=True)
class Pointer:
    """The address of numbers."""

    number: Number

    def words(self, value: Any, name: str) -> list[int]:
        """One word."""
        del name
        return [int(value)]


@dataclass(frozen=True)
class Signature:
    """What a function is handed, and what it returns."""

    result: Number | Nothing
    arguments: tuple[Kind, ...]


float64, int64, uint8, boolean = (Number(name) for name in ("float64", "int64", "uint8", "boolean"))
none = void = Nothing()
double_pointer = Pointer(float64)


def record_type(record: type, *kinds: Kind, lasting: bool = False) -> Record:
    """The type of a NamedTuple whose fields have the given types, for signatures. Numbers in it
    are words of 64 bits in memory too.
    """
    if {boolean, uint8}.intersection(kinds):
        raise TypeError(f"{record.__name__} must have int64 in place of smaller numbers.")
    return Record(record, kinds, lasting)


def address(array: NDArray[Any]) -> int:
    """Where the numbers of an array lie in memory."""
    try:
        return _addressof(_first_byte(cast(Any, array)))  # a quarter of the time of the other
    except (TypeError, ValueError):  # it is read-only, or empty
        return int(array.__array_interface__["data"][0])
