"""The capsules of every link: around the shapes of its description or, where it has none, fitted
along the link.

A fitted link goes from the origin of its joint along the joint's axis to the height of its centre
of mass, from there to the nearest point of the next joint's axis, and along that to the next
joint's origin: frames of Denavit-Hartenberg stand anywhere on their axes, centres of mass where
the link is. A last link goes through its centre of mass and as far again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.enclosing import Capsule, capsules_of, without_inner
from didim.design.kinematics import children
from didim.errors import InputError, cut
from didim.results.formatting import listed
from didim.robot.robot import BASE, Joint, Robot
from didim.robot.shape import Shape

Array = NDArray[np.float64]

FITTED_RADIUS = 0.06
"""Radius of fitted capsules, of the length of the longest chain of links."""

LEAST_RADIUS = 0.01
"""m, of robots that are long enough for it, or whose description has no lengths."""

GIVE_SHAPES = "give <collision> elements in the URDF, or capsules in the robot file"
"""What to do about a guessed shape."""


@dataclass(frozen=True, eq=False)
class LinkCapsules:
    """What one link, or the base, is taken for."""

    label: str
    """"link 2", numbered as parameters are; "base"."""
    joint: int
    """Index in `Robot.joints` of the joint that moves it; -1: the base."""
    capsules: tuple[Capsule, ...]
    """In the frame of the joint; at least one of a link that moves."""
    fitted: bool
    """Whether the description has no shape that can be used."""
    problem: str = ""
    """Why a shape of the description could not be used; empty where all were."""


def link_capsules(robot: Robot) -> tuple[LinkCapsules, ...]:
    """The capsules of the base, where it has any, and of all links in the order of
    `robot.joints`. A base without shapes is fitted only where no link has any: the root of many
    descriptions is a frame far from the robot.
    """
    below = children(robot)
    numbers = {joint.name: k + 1 for k, joint in enumerate(robot.numbered)}
    paths = [_path(robot, k, below[k]) for k in range(BASE, len(robot.joints))]
    radius = _radius(robot, paths)
    found = []
    for k, path in zip(range(BASE, len(robot.joints)), paths, strict=True):
        shapes = robot.shapes if k == BASE else robot.joints[k].shapes
        label = "base" if k == BASE else f"link {numbers[robot.joints[k].name]}"
        capsules, problem = _described(shapes)
        fitted = not capsules
        if fitted:
            capsules = [Capsule(start, end, radius) for start, end in path]
        if fitted and k == BASE and not problem:  # it ends where the first link begins
            described = any(joint.shapes for joint in robot.joints)
            capsules = [] if described else [e for e in capsules if np.any(e.start != e.end)]
        if capsules or k != BASE:
            found.append(LinkCapsules(label, k, tuple(without_inner(capsules)), fitted, problem))
    return tuple(found)


def named_with_reason(links: Sequence[LinkCapsules]) -> str:
    """The labels of links without shapes, with what was wrong with the first shape that could not
    be used.
    """
    reason = next((link.problem for link in links if link.problem), "")
    return listed([link.label for link in links]) + (
        f" ({cut(reason, 200).rstrip('.')})" if reason else ""
    )


def _described(shapes: tuple[Shape, ...]) -> tuple[list[Capsule], str]:
    """Capsules of all shapes of a link; none where one of them cannot be used, and why."""
    found: list[Capsule] = []
    for shape in shapes:
        if shape.kind == "unreadable":
            return [], shape.file
        try:
            found += capsules_of(shape)
        except InputError as problem:
            return [], str(problem)
    return found, ""


def _path(robot: Robot, k: int, below: list[int]) -> list[tuple[Array, Array]]:
    """The segments of a fitted link, in the frame of joint k."""
    origin = np.zeros(3)
    centre = None if k == BASE else _centre(robot.joints[k])
    if not below:
        return [(origin, origin if centre is None else 2.0 * centre)]
    turn = origin if centre is None else np.array([0.0, 0.0, centre[2]])
    found = [(origin, turn)]
    for child in (robot.joints[i] for i in below):
        ends = _ends(child)
        along = child.rotation[:, 2]
        nearest = child.translation + ((turn - child.translation) @ along) * along
        found += [(turn, nearest), *((nearest, end) for end in ends)]
    moved = [each for each in found if np.linalg.norm(each[1] - each[0]) > 1e-9]
    return moved or found[:1]


def _ends(child: Joint) -> list[Array]:
    """Where a link carries its next joint: at its origin, or along the way of a sliding one."""
    if child.kind == "revolute":
        return [child.translation]
    along, limits = child.rotation[:, 2], child.position_limits
    return [child.translation + limit * along for limit in limits if np.isfinite(limit)] or [
        child.translation
    ]


def _centre(joint: Joint) -> Array | None:
    """(3,) centre of mass in the joint's frame; None where mass or moments are unknown."""
    moments, mass = joint.link[6:9], joint.link[9]
    if not (np.isfinite(moments).all() and mass > 0):
        return None
    return np.asarray(moments / mass)


def _radius(robot: Robot, paths: list[list[tuple[Array, Array]]]) -> float:
    """m, of fitted capsules. A carriage has few lengths but the way that it slides."""
    reach = _reach(robot, paths)
    slides = (joint.position_limits for joint in robot.joints if joint.kind == "prismatic")
    length = reach + sum(upper - lower for lower, upper in slides)
    least = min(LEAST_RADIUS, FITTED_RADIUS * length) if length > 0 else LEAST_RADIUS
    return max(FITTED_RADIUS * reach, least)


def _reach(robot: Robot, paths: list[list[tuple[Array, Array]]]) -> float:
    """m: the largest sum of distances between joints from the base to an end of the tree."""
    far = np.zeros(len(robot.joints))
    for k, joint in enumerate(robot.joints):
        before = 0.0 if joint.parent == BASE else far[joint.parent]
        far[k] = before + float(np.linalg.norm(joint.translation))
        if not children(robot)[k]:
            far[k] += sum(float(np.linalg.norm(end - start)) for start, end in paths[k + 1])
    return float(far.max())
