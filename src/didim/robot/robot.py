"""`Robot`: a tree of joints with what is known of them. It is data only; `didim.DynamicModel` holds
the equations.

Frame j is fixed to link j, which joint j moves: z_j is the axis, q_j turns about it (revolute, rad)
or slides along it (prismatic, m). Any convention that ends there fits, modified Denavit-Hartenberg
among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.robot.drive import Drive
from didim.robot.effect import Effect
from didim.robot.effect_joints import joint_weights
from didim.robot.effects import COUPLING_STEMS, EFFECT_STEMS, LINK, check_effects, check_own_name
from didim.robot.mimic import Mimic, check_mimics
from didim.robot.shape import Shape
from didim.validation import array_of

Array = NDArray[np.float64]

BASE = -1
"""Parent of the joints that are attached to the base."""


LARGEST_LENGTH = 1e4
"""Of a coordinate, m: a larger number cannot be in metres."""

LARGEST_VALUE = 1e12
"""Of a mass, moment, inertia or limit in SI units."""

_SHAPES: dict[str, tuple[int, ...]] = {
    "rotation": (3, 3),
    "translation": (3,),
    "link": (len(LINK),),
    "link_frame": (4, 4),
}


def unknown_link() -> Array:
    """Inertial parameters of a link whose inertia is unknown."""
    return np.full(len(LINK), np.nan)


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint and the link that it moves."""

    name: str
    kind: str
    """"revolute" or "prismatic"."""
    parent: int = BASE
    """Index of the parent joint, smaller than this joint's own; -1: the base."""
    rotation: Array = field(default_factory=lambda: np.eye(3))
    """(3, 3) axes of this frame in the parent's, at q = 0."""
    translation: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) origin of this frame in the parent's, at q = 0, m."""
    position_limits: tuple[float, float] = (-np.inf, np.inf)
    velocity_limit: float = np.inf
    torque_limit: float = np.inf
    effects: frozenset[str] = frozenset()
    link: Array = field(default_factory=unknown_link)
    """(10,) nominal XX XY XZ YY YZ ZZ MX MY MZ M in this frame, nan where unknown."""
    nominal: Mapping[str, float] = field(default_factory=dict)
    """Nominal values of the effects, by stem: Ia Fv Fc off, vs of Stribeck friction, ..."""
    link_frame: Array = field(default_factory=lambda: np.eye(4))
    """(4, 4) this frame in the axes of the link as its file writes them."""
    mimic: Mimic | None = None
    """The joint that it follows, which follows none itself; None: it has a coordinate."""
    shapes: tuple[Shape, ...] = ()
    """What its link is taken for where collisions are considered, in this frame."""
    passive: bool = False
    """Whether it has no motor: its torque is zero."""

    def __post_init__(self) -> None:
        where = f"Joint {self.name!r}"
        for name, shape in _SHAPES.items():
            object.__setattr__(self, name, array_of(getattr(self, name), shape, f"{where}: {name}"))
        limits = array_of(self.position_limits, (2,), f"{where}: position_limits")
        object.__setattr__(self, "position_limits", (float(limits[0]), float(limits[1])))


@dataclass(frozen=True, eq=False)
class Coupling:
    """One motor or transmission that acts on several joints: its velocity is the weighted sum of
    theirs.
    """

    name: str
    weights: Mapping[int, float]
    """Weight of each joint's velocity, by its index in `Robot.joint_names`."""
    effects: frozenset[str] = frozenset(COUPLING_STEMS)
    nominal: Mapping[str, float] = field(default_factory=dict)
    """Nominal values by stem: Ia Fv Fc."""


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of revolute and prismatic joints, with gravity, limits, effects, couplings, drives and
    nominal values. Its n coordinates are the joints that follow no other.
    """

    name: str
    joints: tuple[Joint, ...]
    """All joints that move, parents first."""
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    """(3,) acceleration of free fall in the base frame, m/s^2."""
    couplings: tuple[Coupling, ...] = ()
    drive: Drive | None = None
    reference: str = ""
    """Source of the values."""
    effects: tuple[Effect, ...] = ()
    """Effects that name their joints themselves: a user's own."""
    locked: Mapping[str, float] = field(default_factory=dict)
    """Joints of the description that are held, and where, rad or m; they are not among `joints`."""
    shapes: tuple[Shape, ...] = ()
    """What the base is taken for where collisions are considered, in its frame."""

    def __post_init__(self) -> None:
        if not self.joints:
            raise InputError(f"Robot {self.name!r} has no joint that moves.")
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(
            self, "gravity", array_of(self.gravity, (3,), f"Robot {self.name!r}: gravity")
        )
        if not all(letter.isprintable() or letter in "\n\t" for letter in self.reference):
            raise InputError(
                f"Robot {self.name!r}: the reference has characters that cannot be printed."
            )
        if not np.all(np.abs(self.gravity) < 1e3):
            raise InputError(
                f"Robot {self.name!r}: gravity must be in m/s^2, found {self.gravity.tolist()}."
            )
        names = [joint.name for joint in self.joints]
        others = [*(coupling.name for coupling in self.couplings), *self.locked]
        for name in [self.name, *names, *others]:
            if not name.isprintable() or not name.strip():
                raise InputError(
                    f"The name {name!r} is empty or has characters that cannot be printed; choose "
                    "another."
                )
            if names.count(name) > 1:
                raise InputError(
                    f"Robot {self.name!r}: two joints are called {name!r}; give each its own name."
                )
        for index, joint in enumerate(self.joints):
            _check_joint(joint, index, f"Robot {self.name!r}, joint {joint.name!r}")
        check_mimics(self.joints, f"Robot {self.name!r}")
        for coupling in self.couplings:
            _check_coupling(coupling, self.n, f"Robot {self.name!r}, coupling {coupling.name!r}")
        object.__setattr__(self, "effects", tuple(self.effects))
        for effect in self.effects:
            self.weights_of(effect)
            if [each.name for each in self.effects].count(effect.name) > 1:
                raise InputError(
                    f"Robot {self.name!r}: two effects are called {effect.name!r}; rename one."
                )
        for name, value in self.locked.items():
            if name in names or not np.isfinite(value):
                raise InputError(
                    f"Robot {self.name!r}: joint {name!r} must either move or be held at a finite "
                    f"position, found {value}."
                )
        if not self.driven.any():
            raise InputError(
                f"Robot {self.name!r}: every joint is passive; at least one must have a motor."
            )
        if self.drive is not None and self.drive.gear.shape[0] != self.n:
            raise InputError(
                f"Robot {self.name!r}: the drive describes {self.drive.gear.shape[0]} joints, the "
                f"robot has {self.n}."
            )

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.n} joints: {', '.join(self.joint_names)})"

    @cached_property
    def coordinates(self) -> tuple[Joint, ...]:
        """(n,) the joints that follow no other, in the order of all arrays."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @cached_property
    def numbered(self) -> tuple[Joint, ...]:
        """All joints as parameters number them: `coordinates`, then those that follow one."""
        followers = tuple(joint for joint in self.joints if joint.mimic is not None)
        return self.coordinates + followers

    @cached_property
    def n(self) -> int:
        """Number of coordinates: of joints that follow no other."""
        return len(self.coordinates)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of all arrays."""
        return tuple(joint.name for joint in self.coordinates)

    def weights_of(self, effect: Effect) -> dict[int, float]:
        """Weight of each joint, by its index in `numbered`, that an effect acts on."""
        where = f"Robot {self.name!r}, effect {effect.name!r}"
        check_own_name(effect, where)
        return joint_weights(effect, [joint.name for joint in self.numbered], where)

    @property
    def link_frames(self) -> Array:
        """(m, 4, 4) frame j in the axes of link j as the file writes them (the identity for
        Denavit-Hartenberg), of all m `joints`.
        """
        return np.stack([joint.link_frame for joint in self.joints])

    @property
    def position_limits(self) -> Array:
        """(n, 2) lower and upper, rad or m, infinite where unlimited."""
        return np.array([joint.position_limits for joint in self.coordinates])

    @property
    def velocity_limits(self) -> Array:
        """(n,) rad/s or m/s."""
        return np.array([joint.velocity_limit for joint in self.coordinates])

    @property
    def torque_limits(self) -> Array:
        """(n,) N.m or N."""
        return np.array([joint.torque_limit for joint in self.coordinates])

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """(n,) whether each coordinate has a motor."""
        return np.array([not joint.passive for joint in self.coordinates])

    @property
    def drive_gain(self) -> Array:
        """(n, n) g of eq. 8, tau = g v; the identity where the robot declares none, zero for
        passive joints.
        """
        gain = None if self.drive is None else self.drive.gain
        gain = np.eye(self.n) if gain is None else gain
        return gain if self.driven.all() else np.where(np.outer(self.driven, self.driven), gain, 0)


def _check_joint(joint: Joint, index: int, where: str) -> None:
    if joint.kind not in ("revolute", "prismatic"):
        raise InputError(
            f"{where}: the kind must be 'revolute' or 'prismatic', found {joint.kind!r}."
        )
    if not BASE <= joint.parent < index:
        raise InputError(
            f"{where}: its parent must come before it in the list (no loop in the tree), found "
            f"parent {joint.parent}."
        )
    if not np.allclose(joint.rotation @ joint.rotation.T, np.eye(3), atol=1e-9):
        raise InputError(f"{where}: rotation must be orthonormal, found {joint.rotation.tolist()}.")
    if np.linalg.det(joint.rotation) < 0:
        raise InputError(f"{where}: rotation must be right-handed, found a reflection.")
    if not np.all(np.abs(joint.translation) < LARGEST_LENGTH):
        raise InputError(
            f"{where}: coordinates must be finite and in metres, found "
            f"{joint.translation.tolist()}."
        )
    lower, upper = joint.position_limits
    if not lower < upper:
        raise InputError(
            f"{where}: the lower position limit must be below the upper, found [{lower}, {upper}]."
        )
    for label, limit in (("velocity", joint.velocity_limit), ("torque", joint.torque_limit)):
        if not limit > 0:
            raise InputError(f"{where}: the {label} limit must be positive, found {limit}.")
    if np.any(np.abs(joint.link) > LARGEST_VALUE):
        raise InputError(
            f"{where}: inertial parameters must be finite and in SI units, found "
            f"{joint.link.tolist()}."
        )
    if joint.link[-1] < 0:
        raise InputError(f"{where}: the mass must not be negative, found {joint.link[-1]}.")
    if joint.passive and joint.mimic is not None:
        raise InputError(
            f"{where}: it follows another joint, which has the motor or none; declare that one "
            "passive."
        )
    check_effects(joint.effects, where)
    _check_nominal(joint.nominal, set(EFFECT_STEMS), where)


def _check_coupling(coupling: Coupling, n: int, where: str) -> None:
    check_effects(coupling.effects, where, tuple(COUPLING_STEMS))
    _check_nominal(coupling.nominal, set(COUPLING_STEMS.values()), where)
    if len(coupling.weights) < 2:
        raise InputError(
            f"{where}: a coupling needs at least two joints, found {len(coupling.weights)}."
        )
    for index, weight in coupling.weights.items():
        if not 0 <= index < n or not np.isfinite(weight) or weight == 0:
            raise InputError(
                f"{where}: weights must be finite, not zero, of joints 0 to {n - 1}; found "
                f"{index}: {weight}."
            )


def _check_nominal(nominal: Mapping[str, float], known: set[str], where: str) -> None:
    for stem, value in nominal.items():
        if stem not in known:
            raise InputError(
                f"{where}: unknown nominal value {stem!r}; known: {', '.join(sorted(known))}."
            )
        if not abs(value) < LARGEST_VALUE:
            raise InputError(
                f"{where}: nominal {stem} must be finite and in SI units, found {value}."
            )
