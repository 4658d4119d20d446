"""`Clearances`: how far the links of a robot are from each other, from the floor and from the sides
of a box.

Each link is a few capsules; `segments` has the distance of two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.capsules import LinkCapsules, link_capsules
from didim.design.kinematics import all_positions, link_frames, placed
from didim.design.limits import Limits
from didim.design.segments import Segment, between, beyond
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

FULL_TURN = 6.2
"""rad: what a joint turns through that can reach every direction; files write +-3.14."""


@dataclass(frozen=True)
class LeftOut:
    """A distance that is not watched."""

    name: str
    why: str
    is_pair: bool = True
    """Of two links; else of a link to the floor or a side of the box."""


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

    def links_of(self, column: int) -> tuple[LinkCapsules, ...]:
        """The one or two links of a column of `distances`."""
        count = len(self.pairs)
        found = self.pairs[column] if column < count else self.sides[column - count][:1]
        return tuple(self.links[k] for k in found)

    def guessed(self, column: int) -> tuple[LinkCapsules, ...]:
        """Those of them whose shapes the description does not have."""
        return tuple(link for link in self.links_of(column) if link.fitted)

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
        rows = [between(links[i], links[k]) - self.clearance for i, k in self.pairs]
        rows += [
            beyond(links[link], axis, direction, at) for link, axis, direction, at in self.sides
        ]
        return np.stack(rows, axis=1)


def clearances(robot: Robot, limits: Limits) -> Clearances:
    """The distances that floor, box and self-collision of `limits` ask for. Not watched are pairs
    that share a joint, that one joint with stops of its own alone moves or that touch by
    construction, and what no motion changes.
    """
    limits.check_robot(robot)
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
    stopped = _stopped(every.robot, limits)
    count, kept = len(every.pairs), []
    for k, name in enumerate(every.names):
        joints = np.flatnonzero(moved_by[:, k])
        why = ""
        if not joints.size and (k < count or found[0, k] >= 0 or _is_first(every, k)):
            why = "no motion changes their distance"
        elif k < count and joints.size == 1 and stopped[joints[0]]:
            joint = every.robot.joint_names[joints[0]]
            why = f"only {joint} moves them against each other: its position limits do that"
        elif k < count and np.mean(found[:, k] + every.clearance <= 0) > ALWAYS:
            why = "they touch in nearly every pose, by construction"
        if why:
            left_out.append(LeftOut(name, why, is_pair=k < count))
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


def _stopped(robot: Robot, limits: Limits) -> NDArray[np.bool_]:
    """(n,) whether the position limits of a joint can be what keeps two links apart: they are not
    the defaults, and neither the joint nor one that follows it turns in a full circle.
    """
    found = ~limits.position_by_default
    spans = np.abs(np.diff(all_positions(robot, limits.position.T), axis=1))[:, 0]
    for joint, span in zip(robot.joints, spans, strict=True):
        if joint.kind == "revolute" and span >= FULL_TURN:
            name = joint.name if joint.mimic is None else joint.mimic.joint
            found[robot.joint_names.index(name)] = False
    return found


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
