"""A part of a robot: joints that are held at a position become fixed, and their links part of the
links that carry them.

The torques of the joints that move are those of the whole robot whose held joints stand still, so
that a manipulator can be identified without its wheels, its gripper or another arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest, shortened
from didim.robot.assemble import Body
from didim.robot.drive import Drive
from didim.robot.effect import Effect
from didim.robot.effect_joints import joint_weights
from didim.robot.effect_tables import on_named_joints
from didim.robot.effects import COUPLING_STEMS
from didim.robot.robot import Coupling, Joint

Array = NDArray[np.float64]

LIMIT_TOLERANCE = 1e-6
"""rad or m by which a held position may lie beyond the joint's limits."""

WITHOUT_COORDINATE = ("floating", "planar")
"""Kinds of joints that can only be held where the file places them, at 0."""


@dataclass(frozen=True)
class JointChoice:
    """Which joints of a description move."""

    joints: tuple[str, ...] | None = None
    """Those that move; None: all that are not locked."""
    lock: Mapping[str, float] = field(default_factory=dict)
    """Position of joints that are held, rad or m."""


ALL_JOINTS = JointChoice()


def joint_choice(joints: object, lock: object) -> JointChoice:
    """The choice that `load_robot` was given, or an error that says what is expected."""
    names: tuple[str, ...] | None = None
    if joints is not None:
        if not isinstance(joints, list | tuple) or not all(isinstance(n, str) for n in joints):
            raise InputError(f"joints must be a list of joint names, found {shortened(joints)}.")
        names = tuple(joints)
        if not names:
            raise InputError("joints names no joint; name those that move.")
    if lock is not None and not isinstance(lock, Mapping):
        raise InputError(
            f"lock must give joint names and positions, such as {{wheel: 0.0}}, found "
            f"{shortened(lock)}."
        )
    positions: dict[str, float] = {}
    for name, value in (lock or {}).items():
        if (
            not isinstance(value, int | float | np.floating | np.integer)
            or isinstance(value, bool)
            or not np.isfinite(value)
        ):
            raise InputError(
                f"lock: the position of {name!r} must be a finite number, rad or m, found "
                f"{shortened(value)}."
            )
        positions[str(name)] = float(value)
    if both := [name for name in names or () if name in positions]:
        raise InputError(f"Joint {both[0]!r} is in joints and in lock: a joint moves or is held.")
    return JointChoice(names, positions)


def held_positions(bodies: Sequence[Body], choice: JointChoice, where: str) -> dict[str, float]:
    """The position of each joint that is held: that of `lock`, that which a mimic joint takes from
    another that is held, else 0.
    """
    bodies = [body for body in bodies if body.kind != "fixed"]
    known = {body.name: body for body in bodies}
    for name in (*(choice.joints or ()), *choice.lock):
        if name not in known:
            raise InputError(f"{where}: no moving joint is called {name!r}; {nearest(name, known)}")
    moving = set(known) if choice.joints is None else set(choice.joints)
    moving -= set(choice.lock)
    held = {body.name: choice.lock.get(body.name, 0.0) for body in bodies} | dict(choice.lock)
    held = {name: value for name, value in held.items() if name not in moving}
    for _ in bodies:  # a mimic joint may follow another one
        held |= {
            body.name: body.mimic.ratio * held[body.mimic.joint] + body.mimic.offset
            for body in bodies
            if body.mimic is not None
            and body.mimic.joint in held
            and body.name not in choice.lock
            and body.name not in (choice.joints or ())
        }
    for body in bodies:
        _check(body, held, choice, where)
    return {body.name: held[body.name] for body in bodies if body.name in held}


def _check(body: Body, held: Mapping[str, float], choice: JointChoice, where: str) -> None:
    """Refuse what cannot be held, and what cannot move."""
    place, lock = f"{where}, joint {body.name!r}", f"lock = {{ {body.name} = 0.0 }}"
    if body.mimic is not None and body.name not in choice.lock and body.mimic.joint not in held:
        raise InputError(
            f"{place}: mimic joints are not supported, and it follows {body.mimic.joint!r}; hold "
            f"it ({lock}) if its motion matters little, hold {body.mimic.joint!r}, or give it a "
            "motor of its own (remove <mimic>)."
        )
    if body.name not in held:
        if body.kind in WITHOUT_COORDINATE:
            raise InputError(
                f"{place}: {body.kind} joints are not supported; describe the robot from a fixed "
                f"base, or hold it there: {lock}."
            )
        return
    value, (lower, upper) = held[body.name], body.position_limits
    if body.kind in WITHOUT_COORDINATE and value != 0:
        raise InputError(f"{place}: a {body.kind} joint can only be held at 0: {lock}.")
    if not lower - LIMIT_TOLERANCE <= value <= upper + LIMIT_TOLERANCE:
        raise InputError(
            f"{place}: held at {value:g}, but its limits are {lower:g} and {upper:g}; give its "
            f"position: lock = {{ {body.name} = {0.5 * (lower + upper):.3g} }}."
        )


def with_held(
    bodies: Sequence[Body], held: Mapping[str, float], unknown: Array | None = None
) -> list[Body]:
    """The bodies with those joints fixed at their positions; a held link whose inertia is not given
    has `unknown` (10,), None: it is massless.
    """
    return [
        _fixed(body, held[body.name], unknown) if body.name in held else body for body in bodies
    ]


def _fixed(body: Body, value: float, unknown: Array | None) -> Body:
    rotation, translation = held_placement(body, value)
    link = unknown if body.link is None else body.link
    return replace(body, kind="fixed", rotation=rotation, translation=translation, link=link)


def held_placement(body: Body, value: float) -> tuple[Array, Array]:
    """Rotation (3, 3) and translation (3,) of a body in its parent's axes, its joint at `value`."""
    if body.kind == "prismatic":
        return body.rotation, body.translation + body.rotation @ body.axes[:, 2] * value
    cos, sin = np.cos(value), np.sin(value)
    turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return body.rotation @ body.axes @ turn @ body.axes.T, body.translation


def with_held_drives(
    names: Sequence[str],
    joints: Sequence[Joint],
    couplings: Sequence[Coupling],
    drive: Drive | None,
    where: str,
) -> dict[str, Any]:
    """Joints, couplings and drive of a robot, as arguments of `Robot`: of all that move in the
    file, `names`, only `joints` do now.

    A coupling that moves with one joint only is friction of that joint; its inertia and viscous
    friction are counted there already.
    """
    index = {joint.name: k for k, joint in enumerate(joints)}
    kept: list[Coupling] = []
    own = list(joints)
    for coupling in couplings:
        weights = {
            index[names[k]]: weight for k, weight in coupling.weights.items() if names[k] in index
        }
        if len(weights) > 1 or len(weights) == len(coupling.weights):
            kept.append(replace(coupling, weights=weights))
        elif weights and "coulomb" in coupling.effects:
            [(k, weight)] = weights.items()
            own[k] = _with_friction(own[k], coupling, abs(weight))
    return {
        "joints": tuple(own),
        "couplings": tuple(kept),
        "drive": None if drive is None else _drive_of([*names], index, drive, where),
    }


def with_held_effects(
    effects: Sequence[Effect], names: Sequence[str], held: Mapping[str, float], where: str
) -> tuple[Effect, ...]:
    """The effects of a file whose moving joints are `names`, by joint names: without those of
    joints that are `held`.
    """
    kept = []
    for effect in effects:
        place = f"{where}, effect {effect.name!r}"
        acts_on = [names[k] for k in joint_weights(effect, names, place)]
        still = [name for name in acts_on if name in held]
        if still and len(still) < len(acts_on):
            raise InputError(
                f"{place}: acts on joint {still[0]!r}, which is held, and on others that move; let "
                "all of them move, or remove the effect."
            )
        if not still:
            kept.append(on_named_joints(effect, names, place))
    return tuple(kept)


def _with_friction(joint: Joint, coupling: Coupling, weight: float) -> Joint:
    """The joint with the Coulomb friction of a coupling that moves with it alone."""
    stems = ("Fcp", "Fcn") if "asymmetric_coulomb" in joint.effects else ("Fc",)
    had = bool(joint.effects & {"coulomb", "asymmetric_coulomb"})
    added = coupling.nominal.get(COUPLING_STEMS["coulomb"])
    nominal = {stem: value for stem, value in joint.nominal.items() if stem not in stems}
    for stem in stems:
        before = joint.nominal.get(stem) if had else 0.0
        if before is not None and added is not None:
            nominal[stem] = before + weight * added
    effects = joint.effects if had else joint.effects | {"coulomb"}
    return replace(joint, effects=effects, nominal=nominal)


def _drive_of(names: list[str], index: Mapping[str, int], drive: Drive, where: str) -> Drive | None:
    """The drives of the joints that move. Gears that couple one with a held joint have no part for
    it: None, or refused where the gain (9) would be missed.
    """
    moving = [k for k, name in enumerate(names) if name in index]
    held = [k for k, name in enumerate(names) if name not in index]
    if np.any(drive.gear[np.ix_(held, moving)]) or np.any(drive.gear[np.ix_(moving, held)]):
        if drive.gain is None:
            return None
        raise InputError(
            f"{where}: a gear couples a joint that is held with one that moves, so that the torque "
            "of one motor acts on both; let both move, or remove gear_coupling."
        )
    parts = (drive.current_gain, drive.torque_constant)
    return Drive(
        drive.gear[np.ix_(moving, moving)], *(None if x is None else x[moving] for x in parts)
    )
