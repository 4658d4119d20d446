"""Distances of capsules that are placed for many samples: of two of them, and to a plane.

The distance of two capsules is that of their segments minus both radii: with r from the start of
the second to that of the first, and directions d1, d2, the squared distance |r + s d1 - t d2|^2
over 0 <= s, t <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Segment:
    """A capsule that is placed for N samples: its ends (3, N) in the base frame."""

    start: Array
    end: Array
    radius: float
    length: float

    @property
    def along(self) -> Array:
        """(3, N)."""
        return self.end - self.start


def beyond(link: list[Segment], axis: int, direction: float, at: float) -> Array:
    """(N,) how far a link is on the right side of a plane, m."""
    ends = [
        direction * (end[axis] - at) - each.radius
        for each in link
        for end in (each.start, each.end)
    ]
    return np.minimum.reduce(ends)


def between(one: list[Segment], other: list[Segment]) -> Array:
    """(N,) distance of two links, m; negative where they overlap."""
    return np.minimum.reduce(
        [segment_distance(a, b) - a.radius - b.radius for a in one for b in other]
    )


def segment_distance(one: Segment, other: Segment) -> Array:
    """(N,) distance of two segments, m."""
    apart, along, across = one.start - other.start, one.along, other.along
    a, e = one.length**2, other.length**2
    c, f = _dot(along, apart), _dot(across, apart)
    if a == 0.0 or e == 0.0:
        s = np.zeros_like(c) if a == 0.0 else np.clip(-c / a, 0.0, 1.0)
        t = np.zeros_like(f) if e == 0.0 else np.clip(f / e, 0.0, 1.0)
    else:
        b = _dot(along, across)
        parallel = np.maximum(a * e - b * b, 1e-14 * a * e)
        s = np.clip((b * f - c * e) / parallel, 0.0, 1.0)
        t = np.clip((b * s + f) / e, 0.0, 1.0)
        s = np.clip((b * t - c) / a, 0.0, 1.0)
    gap = apart + s * along - t * across
    return np.sqrt(_dot(gap, gap))


def _dot(one: Array, other: Array) -> Array:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]
