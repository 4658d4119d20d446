"""Actuators of an MJCF file as MuJoCo compiled them: which joint each drives, and by which law.

The force of an actuator of length l is k u - kp l - kv dl/dt, limited to `forcerange`; where the
length is `gear` times the position of one joint, the torque of that joint is `gear` times the
force. k = kp is a position servo, k = kv a velocity servo, kp = kv = 0 a motor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from didim.errors import InputError
from didim.robot.mjcf.compile import Model, mujoco_for
from didim.robot.mjcf.refusals import name_of
from didim.robot.robot import Robot

POSITION, VELOCITY, MOTOR = "position", "velocity", "motor"

RELATIVE_TOLERANCE = 1e-12
"""By which the gain of a servo and its bias may differ."""


@dataclass(frozen=True)
class Actuator:
    """A servo or motor of one coordinate of a robot."""

    name: str
    kind: str
    """"position", "velocity" or "motor"."""
    joint: str
    """The coordinate that it drives."""
    gear: float
    """Its length over the position of the joint; a force f is the torque gear f."""
    kp: float
    """Force per length."""
    kv: float
    """Force per velocity."""
    gain: float
    """Force per control."""
    limit: float
    """On |force|; infinite where it has none."""


def actuators_of(model: Model, robot: Robot, where: str) -> tuple[Actuator, ...]:
    """The actuators that drive the coordinates of `robot`, which was read from the same file; those
    of held joints are left out.
    """
    found = []
    ratios = {joint.name: (joint.name, 1.0) for joint in robot.coordinates}
    ratios |= {
        joint.name: (joint.mimic.joint, joint.mimic.ratio)
        for joint in robot.joints
        if joint.mimic is not None
    }
    for k in range(len(model.actuator_trntype)):
        place = f"{where}, actuator {name_of(model, 'actuator', k)!r}"
        moved: dict[str, float] = {}
        for joint, gear in _transmission(model, k, place).items():
            if joint in ratios:
                name, ratio = ratios[joint]
                moved[name] = moved.get(name, 0.0) + gear * ratio
        moved = {name: gear for name, gear in moved.items() if gear}
        if len(moved) > 1:
            raise InputError(
                f"{place}: drives {len(moved)} joints ({', '.join(moved)}), which a joint's own "
                "loop cannot say; hold all but one of them (lock)."
            )
        for joint, gear in moved.items():
            found.append(_actuator(model, k, joint, gear, place))
    return tuple(found)


def torque_limits(model: Model) -> dict[int, float]:
    """Largest |torque| of each joint that has one, by its number: of its own, and of its only
    actuator.
    """
    limits: dict[int, float] = {}
    drivers: dict[int, list[float]] = {}
    for k in range(len(model.actuator_trntype)):
        if (joint := _joint_of(model, k)) is not None:
            most = _force_limit(model, k) * abs(float(model.actuator_gear[k][0]))
            drivers.setdefault(joint, []).append(most)
    for joint in range(model.njnt):
        own = drivers.get(joint, [])
        limit = own[0] if len(own) == 1 else np.inf
        if model.jnt_actfrclimited[joint]:
            limit = min(limit, float(np.abs(model.jnt_actfrcrange[joint]).min()))
        if 0 < limit < np.inf:
            limits[joint] = limit
    return limits


def added_by_actuators(model: Model) -> dict[int, tuple[float, float]]:
    """Armature and damping that the actuators of a joint add to its own, by its number."""
    added: dict[int, tuple[float, float]] = {}
    for k in range(len(model.actuator_trntype)):
        armature, damping = float(model.actuator_armature[k]), float(model.actuator_damping[k])
        if not armature and not damping and not np.any(model.actuator_dampingpoly[k]):
            continue
        joint = _joint_of(model, k)
        if joint is None or np.any(model.actuator_dampingpoly[k]):
            raise InputError(
                f"Actuator {name_of(model, 'actuator', k)!r}: armature and damping of an actuator "
                "can only be read where it drives a joint, and linearly; give them to the joints."
            )
        square = float(model.actuator_gear[k][0]) ** 2
        before = added.get(joint, (0.0, 0.0))
        added[joint] = (before[0] + square * armature, before[1] + square * damping)
    return added


def _joint_of(model: Model, k: int) -> int | None:
    """The joint that an actuator is attached to, if it is attached to one."""
    types = mujoco_for("MJCF files need").mjtTrn
    direct = (int(types.mjTRN_JOINT), int(types.mjTRN_JOINTINPARENT))
    return int(model.actuator_trnid[k][0]) if int(model.actuator_trntype[k]) in direct else None


def _transmission(model: Model, k: int, place: str) -> Mapping[str, float]:
    """Length of an actuator per position of each joint."""
    mujoco = mujoco_for("MJCF files need")
    gear = float(model.actuator_gear[k][0])
    if (joint := _joint_of(model, k)) is not None:
        return {name_of(model, "joint", joint): gear}
    if int(model.actuator_trntype[k]) == mujoco.mjtTrn.mjTRN_TENDON:
        tendon = int(model.actuator_trnid[k][0])
        first = int(model.tendon_adr[tendon])
        path = range(first, first + int(model.tendon_num[tendon]))
        if all(int(model.wrap_type[w]) == mujoco.mjtWrap.mjWRAP_JOINT for w in path):
            return {
                name_of(model, "joint", int(model.wrap_objid[w])): gear * float(model.wrap_prm[w])
                for w in path
            }
    raise InputError(
        f"{place}: drives neither a joint nor a fixed tendon, which cannot be said; remove it."
    )


def _actuator(model: Model, k: int, joint: str, gear: float, place: str) -> Actuator:
    mujoco = mujoco_for("MJCF files need")
    gain, (constant, position, velocity) = (
        float(model.actuator_gainprm[k][0]),
        (float(value) for value in model.actuator_biasprm[k][:3]),
    )
    affine = int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_AFFINE
    bias = np.array([constant, position, velocity]) if affine else np.zeros(3)
    simple = (
        int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
        and int(model.actuator_dyntype[k]) == mujoco.mjtDyn.mjDYN_NONE
        and (affine or int(model.actuator_biastype[k]) == mujoco.mjtBias.mjBIAS_NONE)
        and not model.actuator_delay[k]
    )
    kp, kv = -float(bias[1]), -float(bias[2])
    if not bias.any():
        kind = MOTOR
    elif abs(kp - gain) <= RELATIVE_TOLERANCE * abs(gain):
        kind = POSITION
    elif not kp and abs(kv - gain) <= RELATIVE_TOLERANCE * abs(gain):
        kind = VELOCITY
    else:
        simple, kind = False, ""
    if not simple or bias[0] or not gain > 0 or min(kp, kv) < 0:
        raise InputError(
            f"{place}: only motors, and position and velocity servos without a state or a delay, "
            "can be said (position, velocity, motor, or general with such numbers); describe the "
            "loop in [controller], or as a didim.PD."
        )
    return Actuator(
        name_of(model, "actuator", k),
        kind,
        joint,
        abs(gear),
        kp,
        kv,
        gain,
        _symmetric_limit(model, k, kind, place),
    )


def _symmetric_limit(model: Model, k: int, kind: str, place: str) -> float:
    """The limit of an actuator's force, refused where it is another one for each direction."""
    lower, upper = model.actuator_forcerange[k]
    if model.actuator_forcelimited[k] and abs(lower + upper) > 1e-9 * abs(upper - lower):
        raise InputError(
            f"{place}: forcerange is not the same in both directions ({lower:g}, {upper:g}), which "
            "cannot be said; make it symmetric."
        )
    if kind == MOTOR:
        return _force_limit(model, k)
    return float(upper) if model.actuator_forcelimited[k] else np.inf


def _force_limit(model: Model, k: int) -> float:
    """The largest |force| of both directions that an actuator's ranges allow in each."""
    limit = np.inf
    if model.actuator_forcelimited[k]:
        limit = float(np.abs(model.actuator_forcerange[k]).min())
    if model.actuator_ctrllimited[k] and not np.any(model.actuator_biasprm[k][:3]):
        command = float(np.abs(model.actuator_ctrlrange[k]).min())
        limit = min(limit, abs(float(model.actuator_gainprm[k][0])) * command)
    return limit
