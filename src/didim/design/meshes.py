"""Corners of the triangles of a mesh file: STL (binary or text) and OBJ."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import read_bytes

Array = NDArray[np.float64]

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84
"""Bytes before the triangles of a binary STL file; the last four count them."""

_VERTEX = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)


def triangles(file: Path) -> Array:
    """(k, 3, 3) corners of the triangles of a mesh, in its own units and axes."""
    readers = {".stl": _stl, ".obj": _obj}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{file.name}: a mesh must be .stl or .obj to be read here.")
    try:
        found = reader(read_bytes(file))
    except (ValueError, IndexError, OSError) as problem:
        if isinstance(problem, InputError):
            raise
        reason = getattr(problem, "strerror", None) or "it is damaged"
        raise InputError(f"{file}: the mesh cannot be read: {reason}.") from None
    if not len(found) or not np.all(np.abs(found) < 1e6):
        raise InputError(f"{file}: the mesh has no triangles, or some without finite corners.")
    return found


def _stl(data: bytes) -> Array:
    if len(data) >= _HEADER:
        count = int.from_bytes(data[_HEADER - 4 : _HEADER], "little")
        if len(data) == _HEADER + count * _TRIANGLE.itemsize:
            content = np.frombuffer(data, _TRIANGLE, count, _HEADER)
            return np.asarray(content["corners"], dtype=np.float64)
    if b"endsolid" not in data:
        raise ValueError
    corners = [[float(word) for word in found.groups()] for found in _VERTEX.finditer(data)]
    return np.array(corners).reshape(-1, 3, 3)


def _obj(data: bytes) -> Array:
    points: list[list[float]] = []
    faces: list[list[int]] = []
    for line in data.splitlines():
        words = line.split()
        if words[:1] == [b"v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == [b"f"]:
            corners = [int(word.split(b"/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(points) + k for k in corners]
            faces += [[corners[0], *corners[k : k + 2]] for k in range(1, len(corners) - 1)]
    return np.array(points)[np.array(faces, dtype=int)]
