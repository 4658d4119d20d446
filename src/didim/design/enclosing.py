"""Capsules that enclose a body: the points within a radius of a segment. Every point of the body is
inside one of them, so that a distance between capsules is never larger than that of the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.design.meshes import triangles
from didim.robot.shape import Shape

Array = NDArray[np.float64]

RADII = np.linspace(1.0, 1.5, 26)
"""Radii that are tried for a capsule, of the least one that its axis allows: a larger one may need
a shorter segment.
"""

MAX_STRIPS = 4
"""Capsules for a flat box, at most."""

MAX_SPLITS, SPLIT_GAIN = 2, 0.8
"""A mesh is cut in halves at most so many times, where the capsules of the halves have less than
this fraction of its volume.
"""


@dataclass(frozen=True, eq=False)
class Capsule:
    """The points within `radius` of the segment from `start` to `end`, in the frame of a link."""

    start: Array
    """(3,) m."""
    end: Array
    radius: float

    @property
    def volume(self) -> float:
        """m^3."""
        length = float(np.linalg.norm(self.end - self.start))
        return float(np.pi * self.radius**2 * (length + 4.0 / 3.0 * self.radius))

    def holds(self, other: Capsule, tolerance: float = 1e-9) -> bool:
        """Whether another capsule lies inside this one: both of its ends do."""
        reach = self.radius - other.radius + tolerance
        return all(_to_segment(end, self) <= reach for end in (other.start, other.end))


def capsules_of(shape: Shape) -> list[Capsule]:
    """Capsules that enclose a shape, in the frame of its joint. A mesh is read from its file."""
    if shape.kind == "mesh":
        corners = triangles(Path(shape.file)) * np.array(shape.size)
        return enclosing(corners @ shape.rotation.T + shape.translation)
    if shape.kind == "sphere":
        return [Capsule(shape.translation, shape.translation, shape.size[0])]
    if shape.kind == "capsule":
        return [Capsule(shape.ends[0], shape.ends[1], shape.size[0])]
    if shape.kind == "cylinder":
        radius, half = shape.size[0], 0.5 * shape.size[1]
        found = _around(np.array([-half, half]), np.full(2, radius))
        return [_on_axis(shape.translation, shape.rotation[:, 2], found)]
    return _box(shape)


def enclosing(corners: Array, splits: int = MAX_SPLITS) -> list[Capsule]:
    """Capsules around triangles (k, 3, 3): one, or several where these are clearly smaller."""
    points = corners.reshape(-1, 3)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    principal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    whole = min(
        (_along(points, axis) for axis in (*principal, *np.eye(3))),
        key=lambda capsule: capsule.volume,
    )
    if splits == 0 or len(corners) < 2:
        return [whole]
    axis = whole.end - whole.start
    axis = axis if axis.any() else principal[0]
    behind = (corners.mean(axis=1) - middle) @ axis < 0
    if behind.all() or not behind.any():
        return [whole]
    halves = enclosing(corners[behind], splits - 1) + enclosing(corners[~behind], splits - 1)
    return halves if sum(map(_volume, halves)) < SPLIT_GAIN * whole.volume else [whole]


def without_inner(capsules: list[Capsule]) -> list[Capsule]:
    """The capsules that lie in no other one of the list."""
    kept: list[Capsule] = []
    for capsule in sorted(capsules, key=_volume, reverse=True):
        if not any(other.holds(capsule) for other in kept):
            kept.append(capsule)
    return kept


def _volume(capsule: Capsule) -> float:
    return capsule.volume


def _along(points: Array, axis: Array) -> Capsule:
    """The smallest capsule found around points with a given direction of its axis."""
    across = points - np.outer(points @ axis, axis)
    middle = 0.5 * (across.min(axis=0) + across.max(axis=0))
    middle = middle - (middle @ axis) * axis
    return _on_axis(middle, axis, _around(points @ axis, np.linalg.norm(across - middle, axis=1)))


def _around(along: Array, away: Array) -> tuple[float, float, float]:
    """Start, end and radius of the smallest capsule on an axis around points at `along` on it and
    `away` from it, m.
    """
    best, least = (0.0, 0.0, 0.0), np.inf
    for radius in RADII * max(float(away.max()), 1e-9):
        cap = np.sqrt(np.maximum(radius**2 - away**2, 0.0))
        start, end = float((along + cap).min()), float((along - cap).max())
        if start > end:  # one sphere holds them all
            start = end = 0.5 * (start + end)
        volume = radius**2 * (end - start + 4.0 / 3.0 * radius)
        if volume < least:
            best, least = (start, end, float(radius)), volume
    return best


def _on_axis(origin: Array, axis: Array, found: tuple[float, float, float]) -> Capsule:
    start, end, radius = found
    return Capsule(origin + start * axis, origin + end * axis, radius)


def _box(shape: Shape) -> list[Capsule]:
    """A box in strips along its longest edge, as many as make them about square."""
    order = np.argsort(shape.size)
    thin, wide, long = (shape.size[k] for k in order)
    strips = min(MAX_STRIPS, max(1, round(wide / thin)))
    across, axis = shape.rotation[:, order[1]], shape.rotation[:, order[2]]
    away = 0.5 * float(np.hypot(thin, wide / strips))
    found = _around(np.array([-0.5, 0.5]) * long, np.full(2, away))
    offsets = wide * ((np.arange(strips) + 0.5) / strips - 0.5)
    return [_on_axis(shape.translation + offset * across, axis, found) for offset in offsets]


def _to_segment(point: Array, capsule: Capsule) -> float:
    along = capsule.end - capsule.start
    size = float(along @ along)
    part = 0.0 if size == 0 else float(np.clip((point - capsule.start) @ along / size, 0.0, 1.0))
    return float(np.linalg.norm(capsule.start + part * along - point))
