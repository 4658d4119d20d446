"""`Limits`: what a motion must not exceed, per joint and in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.design.followers import position_within, velocity_within
from didim.errors import InputError, shortened
from didim.results.formatting import listed
from didim.robot.robot import Joint, Robot
from didim.validation import LARGEST_NUMBER, array_of, real, set_fields

Array = NDArray[np.float64]

RANGE = {"revolute": np.pi, "prismatic": 0.2}
"""Position to both sides of zero where a joint has no limits, rad or m."""

SPEED = {"revolute": 1.0, "prismatic": 0.2}
"""Velocity where a joint has no limit, rad/s or m/s."""

ACCELERATION_TIME = 0.2
"""In which a joint may reach its full velocity where no acceleration limit is given, s."""

JERK_TIME = 0.02
"""In which it may reach its full acceleration where no jerk limit is given, s."""

TORQUE_RESERVE = 0.1
"""Fraction of the torque limit that is kept for what the nominal model does not know."""


@dataclass(frozen=True, eq=False, init=False)
class Limits:
    """Limits of a motion, complete: what is not given comes from the robot's description, and where
    that has none, from the defaults of this module. Numbers may be one for all joints or one for
    each. A joint that others follow moves no further and no faster than their own limits allow,
    whatever is given for it.
    """

    robot: Robot
    """Whose joints they limit."""
    position: Array
    """(n, 2) lower and upper, rad or m; by default the robot's, or a full turn and +-0.2 m."""
    velocity: Array
    """(n,) rad/s or m/s; by default the robot's, or 1 rad/s and 0.2 m/s."""
    acceleration: Array
    """(n,) rad/s^2 or m/s^2; by default the velocity in 0.2 s."""
    jerk: Array
    """(n,) rad/s^3 or m/s^3; by default the acceleration in 0.02 s."""
    torque: Array
    """(n,) N.m or N, infinite where unlimited; by default the robot's."""
    floor: float | None
    """Height of the floor in the base frame, m, along z; None: there is none. The base may stand
    on it.
    """
    box: Array | None
    """(3, 2) lower and upper x, y, z in the base frame that the moving links stay in, m, infinite
    where open; None: no box.
    """
    self_collision: float | None
    """Clearance between links that are not neighbours, m; None: not checked."""
    torque_reserve: float
    """Fraction of `torque` that stays free, for the uncertainty of the nominal model."""
    defaults: tuple[str, ...]
    """Which joint limits, such as "acceleration of joint_1", are the defaults of this module."""
    position_by_default: NDArray[np.bool_]
    """(n,) whether a side of the position limits of a joint is a default."""

    def __init__(
        self,
        robot: Robot,
        *,
        position: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        floor: float | None = None,
        box: ArrayLike | None = None,
        self_collision: float | None = None,
        torque_reserve: float = TORQUE_RESERVE,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"Limits: robot must be a didim.Robot, found {shortened(robot)}.")
        kinds = [joint.kind for joint in robot.coordinates]
        names = robot.joint_names
        missing: list[str] = []

        def missed(name: str, unknown: NDArray[np.bool_]) -> None:
            missing.extend(f"{name} of {names[j]}" for j in np.flatnonzero(unknown))

        def limit(given: ArrayLike | None, name: str, own: Array, default: Array) -> Array:
            if given is not None:
                return _positive(given, name, names)
            missed(name, ~np.isfinite(own))
            return np.where(np.isfinite(own), own, default)

        speeds, unknown = np.array([SPEED[kind] for kind in kinds]), np.full(robot.n, np.inf)
        bounds, by_default = _position(position, robot, kinds)
        missed("position", by_default)
        own_speeds = velocity_within(robot.velocity_limits, robot)
        velocities = velocity_within(limit(velocity, "velocity", own_speeds, speeds), robot)
        accelerations = limit(acceleration, "acceleration", unknown, velocities / ACCELERATION_TIME)
        set_fields(
            self,
            robot=robot,
            position=bounds,
            velocity=velocities,
            acceleration=accelerations,
            jerk=limit(jerk, "jerk", unknown, accelerations / JERK_TIME),
            torque=robot.torque_limits
            if torque is None
            else _positive(torque, "torque", names, infinite=True),
            floor=None if floor is None else real(floor, "Limits: floor, in m,"),
            box=None if box is None else _box(box),
            self_collision=None
            if self_collision is None
            else real(self_collision, "Limits: self_collision, a clearance in m,", least=0.0),
            torque_reserve=_reserve(torque_reserve),
            defaults=tuple(missing),
            position_by_default=by_default,
        )

    @property
    def usable_torque(self) -> Array:
        """(n,) the torque without its reserve."""
        return (1.0 - self.torque_reserve) * self.torque

    @property
    def is_cartesian(self) -> bool:
        """Whether anything limits where the links are."""
        return not (self.floor is None and self.box is None and self.self_collision is None)

    @property
    def without_torque(self) -> tuple[str, ...]:
        """The joints with a motor whose torque nothing limits."""
        free = ~np.isfinite(self.torque) & self.robot.driven
        return tuple(self.robot.joint_names[j] for j in np.flatnonzero(free))

    def check_robot(self, robot: Robot) -> None:
        """Refuse a robot with other joints, or joints with other limits, than the limits were made
        for; inertias may differ.
        """
        if robot is self.robot:
            return
        if robot.n != self.robot.n:
            raise InputError(
                f"The limits are those of {self.robot.n} joints, the robot {robot.name!r} has "
                f"{robot.n} joints."
            )
        if robot.joint_names != self.robot.joint_names:
            raise InputError(
                f"The limits are those of the joints {listed(self.robot.joint_names)}, the robot "
                f"{robot.name!r} has {listed(robot.joint_names)}; make Limits of this robot."
            )
        own, other = ({joint.name: joint for joint in each.joints} for each in (self.robot, robot))
        for name in own | other:
            if name not in own or name not in other or not _alike(own[name], other[name]):
                raise InputError(
                    f"The limits are those of another robot {self.robot.name!r}: joint {name} of "
                    f"{robot.name!r} is not described as there; make Limits of this robot."
                )


def _alike(one: Joint, other: Joint) -> bool:
    """Whether two descriptions of a joint lead to the same limits."""
    first, second = (
        [*joint.position_limits, joint.velocity_limit, joint.torque_limit] for joint in (one, other)
    )
    same = (one.kind, one.mimic) == (other.kind, other.mimic)
    return same and bool(np.allclose(first, second, rtol=1e-6, atol=1e-9))


def _reserve(value: object) -> float:
    reserve = real(value, "Limits: torque_reserve", least=0.0)
    if reserve >= 1:
        raise InputError(
            f"Limits: torque_reserve is a fraction of the torque limit below 1, found {reserve:g}."
        )
    return reserve


def _positive(
    value: ArrayLike, name: str, joints: tuple[str, ...], infinite: bool = False
) -> Array:
    given = np.asarray(value)
    if given.dtype.kind in "fiu" and given.ndim == 0:
        given = np.full(len(joints), float(given))
    array = array_of(given, (len(joints),), f"Limits: {name}")
    for joint, each in zip(joints, array, strict=True):
        if not each > 0 or (not infinite and not each < LARGEST_NUMBER):
            raise InputError(f"Limits: the {name} of {joint} must be positive, found {each:g}.")
    return array


def _position(
    value: ArrayLike | None, robot: Robot, kinds: list[str]
) -> tuple[Array, NDArray[np.bool_]]:
    """(n, 2) the limits, and (n,) whether a side of them is a default."""
    if value is None:
        bounds = position_within(robot.position_limits, robot)
        reach = np.array([RANGE[kind] for kind in kinds])
        unknown = ~np.isfinite(bounds)
        lower, upper = bounds.T
        low = np.where(unknown[:, 0], np.where(unknown[:, 1], -reach, upper - 2 * reach), lower)
        high = np.where(unknown[:, 1], np.where(unknown[:, 0], reach, lower + 2 * reach), upper)
        return np.column_stack([low, high]), unknown[:, 0] | unknown[:, 1]
    array = array_of(value, (robot.n, 2), "Limits: position")
    for joint, (low, high) in zip(robot.joint_names, array, strict=True):
        if not -LARGEST_NUMBER < low < high < LARGEST_NUMBER:
            raise InputError(
                f"Limits: the lower position of {joint} must be below the upper, and both finite; "
                f"found [{low:g}, {high:g}]."
            )
    return position_within(array, robot), np.zeros(robot.n, dtype=bool)


def _box(value: ArrayLike) -> Array:
    array = array_of(value, (3, 2), "Limits: box")
    for axis, (low, high) in zip("xyz", array, strict=True):
        if not low < high:
            raise InputError(
                f"Limits: the box must have a lower {axis} below the upper one, found "
                f"[{low:g}, {high:g}]."
            )
    return array
