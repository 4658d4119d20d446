"""`Clearances`: how far the links of a robot are from each other, from the floor and from the sides
of a box.

Each link is a few capsules. The distance of two capsules is that of their segments minus both
radii: with r from the start of the second to that of the first, and directions d1, d2, the squared
distance |r + s d1 - t d2|^2 over 0 <= s, t <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.capsules import LinkCapsules, link_capsules
from didim.design.kinematics import link_frames, placed
from didim.design.limits import Limits
from didim.errors import InputError
from didim.robot.robot import BASE, Robot
from didim.validation import samples

Array = NDArray[np.float64]

CHUNK = 4096
"""Samples that are worked on together, so that they stay in the cache."""

POSES, ALWAYS = 400, 0.95
"""Random poses within the limits; a pair of links that touches in more than this fraction of them
does so by construction.
"""

STILL = 1e-6
"""m: a distance that changes less, over all poses, does not depend on a joint."""


@dataclass(frozen=True)
class LeftOut:
    """A distance that is not watched."""

    name: str
    why: str


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


@dataclass(frozen=True, eq=False)
class Clearances:
    """The distances that limits ask for."""

    robot: Robot
    links: tuple[LinkCapsules, ...]
    pairs: tuple[tuple[int, int], ...]
    """Indices in `links` of the pairs that are watched."""
    sides: tuple[tuple[int, int, float, float], ...]
    """Link, axis (0: x), direction (1.0: it stays above) and position in m of each plane."""
    clearance: float
    """m, which the distance of a pair must exceed."""
    names: tuple[str, ...]
    """Of the columns of `distances`: "link 2 - link 5", "floor: link 4", "box x max: link 6"."""
    left_out: tuple[LeftOut, ...] = ()
    """What is not watched, and why."""

    def distances(self, q: Array) -> Array:
        """(N, len(names)) how far each is from its limit at (N, n) positions, m; positive: free.
        The clearance between links is subtracted already.
        """
        given = samples(q, "q", self.robot.n)
        found = np.empty((given.shape[0], len(self.names)))
        for start in range(0, given.shape[0] if self.names else 0, CHUNK):
            found[start : start + CHUNK] = self._chunk(given[start : start + CHUNK])
        return found

    def placed(self, q: Array) -> list[list[Segment]]:
        """The capsules of `links` at (N, n) positions."""
        frames = link_frames(self.robot, q)
        base = (np.repeat(np.eye(3)[:, :, None], len(q), axis=2), np.zeros((3, len(q))))
        return [
            [
                Segment(
                    placed(frame, each.start),
                    placed(frame, each.end),
                    each.radius,
                    float(np.linalg.norm(each.end - each.start)),
                )
                for each in link.capsules
            ]
            for link in self.links
            for frame in [base if link.joint == BASE else frames[link.joint]]
        ]

    def _chunk(self, q: Array) -> Array:
        links = self.placed(q)
        rows = [_between(links[i], links[k]) - self.clearance for i, k in self.pairs]
        rows += [
            _beyond(links[link], axis, direction, at) for link, axis, direction, at in self.sides
        ]
        return np.stack(rows, axis=1)


def clearances(robot: Robot, limits: Limits) -> Clearances:
    """The distances that floor, box and self-collision of `limits` ask for. Not watched are pairs
    that share a joint, that one joint alone moves or that touch by construction, and what no motion
    changes.
    """
    if limits.position.shape != (robot.n, 2):
        raise InputError(
            f"The limits are those of {limits.position.shape[0]} joints, the robot "
            f"{robot.name!r} has {robot.n}."
        )
    links = link_capsules(robot)
    pairs: list[tuple[int, int]] = []
    left_out: list[LeftOut] = []
    if limits.self_collision is not None:
        for i in range(len(links)):
            for k in range(i + 1, len(links)):
                if _neighbours(robot, links[i], links[k]):
                    left_out.append(LeftOut(_pair(links[i], links[k]), "they share a joint"))
                else:
                    pairs.append((i, k))
    every = Clearances(
        robot,
        links,
        tuple(pairs),
        tuple(_sides(links, limits)),
        0.0 if limits.self_collision is None else limits.self_collision,
        (*(_pair(links[i], links[k]) for i, k in pairs), *_side_names(links, limits)),
    )
    return _watched(every, limits, left_out)


def _watched(every: Clearances, limits: Limits, left_out: list[LeftOut]) -> Clearances:
    """Without what touches always and what a motion does not change, over random poses."""
    random = np.random.default_rng(0)
    lower, upper = limits.position[:, 0], limits.position[:, 1]
    q, other = random.uniform(lower, upper, size=(2, POSES, every.robot.n))
    found = every.distances(q)
    moved_by = _moved_by(every, q, other, found)
    count, kept = len(every.pairs), []
    for k, name in enumerate(every.names):
        joints = [every.robot.joint_names[j] for j in np.flatnonzero(moved_by[:, k])]
        why = ""
        if not joints and (k < count or found[0, k] >= 0 or _is_first(every, k)):
            why = "no motion changes their distance"
        elif k < count and len(joints) == 1:
            why = f"only {joints[0]} moves them against each other: its position limits do that"
        elif k < count and np.mean(found[:, k] + every.clearance <= 0) > ALWAYS:
            why = "they touch in nearly every pose, by construction"
        if why:
            left_out.append(LeftOut(name, why))
        else:
            kept.append(k)
    return Clearances(
        every.robot,
        every.links,
        tuple(every.pairs[k] for k in kept if k < count),
        tuple(every.sides[k - count] for k in kept if k >= count),
        every.clearance,
        tuple(every.names[k] for k in kept),
        tuple(left_out),
    )


def _moved_by(every: Clearances, q: Array, other: Array, found: Array) -> NDArray[np.bool_]:
    """(n, len(names)) whether a joint alone, moved to another position, changes a distance."""
    changes = np.zeros((every.robot.n, len(every.names)), dtype=bool)
    for j in range(every.robot.n):
        moved = q.copy()
        moved[:, j] = other[:, j]
        changes[j] = np.any(np.abs(every.distances(moved) - found) > STILL, axis=0)
    return changes


def _is_first(every: Clearances, k: int) -> bool:
    """Whether a side is one that a link on the base stands on, as the base does."""
    link = every.links[every.sides[k - len(every.pairs)][0]]
    return every.robot.joints[link.joint].parent == BASE


def _neighbours(robot: Robot, one: LinkCapsules, other: LinkCapsules) -> bool:
    def parent(link: LinkCapsules) -> int | None:
        return None if link.joint == BASE else robot.joints[link.joint].parent

    return parent(one) == other.joint or parent(other) == one.joint


def _pair(one: LinkCapsules, other: LinkCapsules) -> str:
    return f"{one.label} - {other.label}"


def _planes(limits: Limits) -> list[tuple[str, int, float, float]]:
    """Label, axis, direction and position of the floor and of the sides of the box."""
    found = [] if limits.floor is None else [("floor", 2, 1.0, limits.floor)]
    if limits.box is not None:
        for axis, bounds in enumerate(limits.box):
            for word, direction, at in zip(("min", "max"), (1.0, -1.0), bounds, strict=True):
                if np.isfinite(at):
                    found.append((f"box {'xyz'[axis]} {word}", axis, direction, float(at)))
    return found


def _sides(links: tuple[LinkCapsules, ...], limits: Limits) -> list[tuple[int, int, float, float]]:
    return [
        (k, axis, direction, at)
        for _, axis, direction, at in _planes(limits)
        for k, link in enumerate(links)
        if link.joint != BASE
    ]


def _side_names(links: tuple[LinkCapsules, ...], limits: Limits) -> list[str]:
    return [
        f"{label}: {link.label}"
        for label, *_ in _planes(limits)
        for link in links
        if link.joint != BASE
    ]


def _beyond(link: list[Segment], axis: int, direction: float, at: float) -> Array:
    """(N,) how far a link is on the right side of a plane, m."""
    ends = [
        direction * (end[axis] - at) - each.radius
        for each in link
        for end in (each.start, each.end)
    ]
    return np.minimum.reduce(ends)


def _between(one: list[Segment], other: list[Segment]) -> Array:
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
