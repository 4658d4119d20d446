"""`Shape`: a simple body that a link is taken for where collisions are considered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.validation import array_of

Array = NDArray[np.float64]

SIZES = {"box": 3, "cylinder": 2, "sphere": 1, "capsule": 2, "mesh": 3, "unreadable": 0}
"""Numbers that give the size of each kind: edges; radius and length (of a capsule without its
caps); radius; scale of a mesh.
"""

LARGEST_SIZE = 1e4
"""m, or of the scale of a mesh."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A body around its own origin, its length along its own z."""

    kind: str
    """A key of `SIZES`; "unreadable": a file has one that cannot be used, `file` says why."""
    size: tuple[float, ...] = ()
    """m; see `SIZES`."""
    rotation: Array = field(default_factory=lambda: np.eye(3))
    """(3, 3) axes of the shape in the frame of its joint, or of the base."""
    translation: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) its origin there, m."""
    file: str = ""
    """Of a mesh."""

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise InputError(f"A shape must be one of {', '.join(SIZES)}, found {self.kind!r}.")
        count = SIZES[self.kind]
        sizes = array_of(np.asarray(self.size, dtype=float), (count,), f"Size of a {self.kind}")
        least = 0.0 if self.kind == "capsule" else 1e-12
        small = np.append(sizes[:1] <= 0, sizes[1:] < least)
        if (self.kind != "mesh" and small.any()) or not np.all(np.abs(sizes) < LARGEST_SIZE):
            raise InputError(
                f"The size of a {self.kind} must be positive and in metres, found {sizes.tolist()}."
            )
        object.__setattr__(self, "size", tuple(sizes.tolist()))
        for name, shape in (("rotation", (3, 3)), ("translation", (3,))):
            value = array_of(getattr(self, name), shape, f"A {self.kind}: {name}")
            if not np.all(np.abs(value) < LARGEST_SIZE):
                raise InputError(f"A {self.kind}: {name} must be finite, found {value.tolist()}.")
            object.__setattr__(self, name, value)

    def moved(self, rotation: Array, translation: Array) -> Shape:
        """The same shape seen from a frame in which its own has this place."""
        return replace(
            self,
            rotation=rotation @ self.rotation,
            translation=rotation @ self.translation + translation,
        )

    @property
    def ends(self) -> Array:
        """(2, 3) the ends of the axis of a capsule or cylinder, m."""
        half = 0.5 * self.size[1] * self.rotation[:, 2]
        return np.stack([self.translation - half, self.translation + half])


def capsule(start: Array, end: Array, radius: float) -> Shape:
    """The points within `radius` of a segment."""
    along = np.asarray(end, dtype=float) - start
    length = float(np.linalg.norm(along))
    rotation = np.eye(3)
    if length > 0:
        rotation = smallest_rotation(along / length)
    return Shape("capsule", (radius, length), rotation, 0.5 * (np.asarray(start) + end))


def smallest_rotation(axis: Array) -> Array:
    """The rotation (3, 3) of least angle that takes z onto the unit vector `axis`; half a turn
    about x where axis = -z.
    """
    x, y, z = axis
    away = x * x + y * y
    if z < 0 and away < 1e-30:
        return np.diag([1.0, -1.0, -1.0])
    k = 1.0 / (1.0 + z) if z >= 0 else (1.0 - z) / away
    return np.array(
        [[1.0 - k * x * x, -k * x * y, x], [-k * x * y, 1.0 - k * y * y, y], [-x, -y, z]]
    )


def plain_shape(shape: Shape) -> dict[str, Any]:
    """Numbers, lists and texts, for a file."""
    return {
        "kind": shape.kind,
        "size": list(shape.size),
        "rotation": shape.rotation.tolist(),
        "translation": shape.translation.tolist(),
        "file": shape.file,
    }


def shape_of(data: Mapping[str, Any]) -> Shape:
    """The shape that `plain_shape` wrote."""
    return Shape(
        data["kind"],
        tuple(data["size"]),
        np.array(data["rotation"]),
        np.array(data["translation"]),
        data["file"],
    )
