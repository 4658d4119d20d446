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
from didim.robot.mimic import resolved
from didim.robot.robot import Coupling, Joint

Array = NDArray[np.float64]

LIMIT_TOLERANCE = 1e-6
"""rad or m by which a held position may lie beyond the joint's limits."""

WITHOUT_COORDINATE = ("floating", "planar", "ball")
"""Kinds of joints that can only be held where the file places them, at 0."""


@dataclass(frozen=True)
class JointChoice:
    """Which joints of a description move."""

    joints: tuple[str, ...] | None = None
    """Those that move, beside those that follow one of them; None: all that are not locked."""
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
    another that is held, else 0. A mimic joint moves with the joint that it follows.
    """
    fixed = {body.name: 0.0 for body in bodies if body.kind == "fixed"}
    bodies = [body for body in bodies if body.kind != "fixed"]
    known = {body.name: body for body in bodies}
    for name in (*(choice.joints or ()), *choice.lock):
        if name not in known:
            raise InputError(f"{where}: no moving joint is called {name!r}; {nearest(name, known)}")
    moving = set(known) if choice.joints is None else set(choice.joints)
    moving -= set(choice.lock)
    mimics = {
        body.name: body.mimic
        for body in bodies
        if body.mimic is not None and body.name not in choice.lock
    }
    held = {body.name: 0.0 for body in bodies if body.name not in {*moving, *mimics}}
    held |= fixed | dict(choice.lock)
    for name in choice.joints or ():  # a mimic joint that is named moves, if what it follows rests
        if name in mimics and (
            (end := resolved(mimics, name, where)).joint in held or not end.ratio
        ):
            del mimics[name]
    for name in mimics:
        end = resolved(mimics, name, where)
        if end.joint not in known and end.joint not in fixed:
            raise InputError(
                f"{where}, joint {name!r}: follows {end.joint!r}, but no joint is called so; "
                f"{nearest(end.joint, known)}"
            )
        if end.joint in held or end.ratio == 0:
            held[name] = end.ratio * held.get(end.joint, 0.0) + end.offset
    for body in bodies:
        _check(body, held, where)
    return {body.name: held[body.name] for body in bodies if body.name in held}


def _check(body: Body, held: Mapping[str, float], where: str) -> None:
    """Refuse what cannot be held, and what cannot move."""
    place, lock = f"{where}, joint {body.name!r}", f"lock = {{ {body.name} = 0.0 }}"
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
    """The bodies with those joints fixed at their positions, and with mimic joints that follow a
    joint of their own; a held link whose inertia is not given has `unknown` (10,), None: it is
    massless.
    """
    still = {body.name for body in bodies if body.kind == "fixed"} | held.keys()
    mimics = {
        body.name: body.mimic
        for body in bodies
        if body.mimic is not None and body.name not in held and body.mimic.joint not in still
    }
    return [
        _fixed(body, held[body.name], unknown)
        if body.name in held
        else replace(body, mimic=resolved(mimics, body.name, "") if body.name in mimics else None)
        for body in bodies
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
    driven: Sequence[str],
    joints: Sequence[Joint],
    couplings: Sequence[Coupling],
    drive: Drive | None,
    where: str,
) -> dict[str, Any]:
    """Joints, couplings and drive of a robot, as arguments of `Robot`: of all that move in the
    file, `names`, only `joints` do now. Joints that follow another are not among the `driven`.

    A coupling that moves with one joint only is friction of that joint; its inertia and viscous
    friction are counted there already.
    """
    followers = {joint.name for joint in joints if joint.mimic is not None}
    free = [joint.name for joint in joints if joint.name not in followers]
    index = {name: k for k, name in enumerate(free)}
    kept: list[Coupling] = []
    own = {joint.name: joint for joint in joints}
    for coupling in couplings:
        if tied := [names[k] for k in coupling.weights if names[k] in followers]:
            raise InputError(
                f"{where}, coupling {coupling.name!r}: acts on joint {tied[0]!r}, which follows "
                "another one; remove the coupling, or hold the joint (lock)."
            )
        weights = {
            index[names[k]]: weight for k, weight in coupling.weights.items() if names[k] in index
        }
        if len(weights) > 1 or len(weights) == len(coupling.weights):
            kept.append(replace(coupling, weights=weights))
        elif weights and "coulomb" in coupling.effects:
            [(k, weight)] = weights.items()
            own[free[k]] = _with_friction(own[free[k]], coupling, abs(weight))
    return {
        "joints": tuple(own.values()),
        "couplings": tuple(kept),
        "drive": None if drive is None else _drive_of(driven, index, drive, where),
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


def _drive_of(
    names: Sequence[str], index: Mapping[str, int], drive: Drive, where: str
) -> Drive | None:
    """The drives of the joints that move; None where one of them has none. Gears that couple one
    with a held joint have no part for it: None, or refused where the gain (9) would be missed.
    """
    if not index.keys() <= {*names}:
        return None
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
