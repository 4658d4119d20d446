"""MATLAB's MAT files of version 5 (save -v6, -v7): their numeric arrays and single structures.

SciPy's reader of this version is compiled and can end the process on a damaged file; this one reads
every length against what is there. Layout: MathWorks, "MAT-File Format".
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import MAX_NUMBERS, refuse_too_many

HEADER = 128
"""Bytes before the first element."""

MAX_DEPTH = 8
"""Of structures within structures."""

_MATRIX, _COMPRESSED = 14, 15
_STRUCTURE, _NUMERIC = 2, range(6, 16)
_COMPLEX = 0x0800
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""Types of an element's numbers, as NumPy spells them."""


@dataclass
class _Reader:
    """Elements one after the other."""

    data: memoryview
    order: Literal["little", "big"]
    at: int = 0

    @property
    def done(self) -> bool:
        return len(self.data) - self.at < 8

    def element(self) -> tuple[int, memoryview]:
        """Type and content of the next element."""
        kind, size = self._word(self.at), self._word(self.at + 4)
        if kind >> 16:  # a short element: its size and type share one word
            kind, size, start, end = kind & 0xFFFF, kind >> 16, self.at + 4, self.at + 8
        else:
            start = self.at + 8
            end = start + size if kind == _COMPRESSED else start + 8 * math.ceil(size / 8)
        if start + size > min(len(self.data), max(end, 0)):
            raise InputError("an element is longer than the file")
        self.at = end
        return kind, self.data[start : start + size]

    def numbers(self) -> NDArray[np.generic]:
        """The content of the next element, which must be of numbers."""
        kind, content = self.element()
        if kind not in _NUMBERS:
            raise InputError(f"numbers were expected, found an element of type {kind}")
        dtype = np.dtype(_NUMBERS[kind]).newbyteorder("<" if self.order == "little" else ">")
        return np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype)

    def within(self, content: memoryview) -> _Reader:
        """A reader of the elements in an element."""
        return _Reader(content, self.order)

    def _word(self, at: int) -> int:
        if at + 4 > len(self.data):
            raise InputError("the file ends within an element")
        return int.from_bytes(self.data[at : at + 4], self.order)


def mat5_arrays(data: bytes, where: str) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Names and numeric arrays of a file of version 5; fields of a structure are called
    "structure.field". What is not numeric and real is left out.
    """
    mark = data[HEADER - 2 : HEADER]
    if mark not in (b"IM", b"MI"):
        raise InputError(f"{where}: is not a MAT file.")
    reader = _Reader(memoryview(data)[HEADER:], "little" if mark == b"IM" else "big")
    unpacked = 0
    try:
        while not reader.done:
            kind, content = reader.element()
            if kind == _COMPRESSED:
                content = memoryview(_unpacked(content, 8 * MAX_NUMBERS - unpacked))
                unpacked += len(content)
                refuse_too_many(unpacked / 8, where)
                kind, content = reader.within(content).element()
            if kind == _MATRIX:
                yield from _matrix(reader.within(content), "", 0)
    except (zlib.error, ValueError) as problem:
        if str(problem).startswith(where):
            raise
        raise InputError(f"{where}: is a damaged MAT file: {problem}.") from None


def _unpacked(content: memoryview, most: int) -> bytes:
    """A compressed element, refused where it is cut short; one byte more than `most`, at most."""
    stream = zlib.decompressobj()
    found = stream.decompress(content, max(most, 0) + 1)
    if not stream.eof and len(found) <= most:
        raise InputError("a compressed element is cut short")
    return found


def _matrix(reader: _Reader, path: str, depth: int) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """The arrays of one matrix: itself, or those of the fields of a single structure."""
    if reader.done:  # an empty field
        return
    flags, shape = reader.numbers(), [int(size) for size in reader.numbers()]
    _, own = reader.element()
    if not flags.size or len(shape) < 2 or min(shape) < 0:
        raise InputError("a matrix has no size")
    kind, name = int(flags[0]) & 0xFF, path or bytes(own).decode("latin-1")
    if not name or name.startswith("__"):
        return
    if kind in _NUMERIC and not int(flags[0]) & _COMPLEX:
        values = reader.numbers()
        if values.size < math.prod(shape):
            raise InputError(f"the matrix {name[:80]!r} is cut short")
        yield name, values[: math.prod(shape)].reshape(shape, order="F")
    elif kind == _STRUCTURE and math.prod(shape) == 1 and depth < MAX_DEPTH:
        length = reader.numbers()
        _, names = reader.element()
        width = int(length[0]) if length.size else 0
        if width < 1:
            raise InputError(f"the structure {name[:80]!r} has no field names")
        for start in range(0, len(names) // width * width, width):
            field = bytes(names[start : start + width]).split(b"\0")[0].decode("latin-1")
            inner, content = reader.element()
            if inner == _MATRIX:
                yield from _matrix(reader.within(content), f"{name}.{field}", depth + 1)
