"""What the robot may have that its model lacks: effects of the catalogue, couplings, a payload,
gravity and joint zeros that differ, drive gains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.results.lack_of_fit import Remedy
from didim.results.load_seen import MOMENTS
from didim.results.ripple import Ripple
from didim.robot.effects import LINK
from didim.structure.suspect import Course, Suspect, Torques, on_joint, on_joints

Array = NDArray[np.float64]
Signal = Callable[[Course], Array]

STRIBECK_VELOCITIES = (0.02, 0.05, 0.12, 0.3)
"""Of a joint's largest velocity: where the friction beyond Coulomb's is tried to have fallen."""

ROOT_VELOCITY = 1e-3
"""rad/s or m/s, as the catalogue has it."""

TILT = 1e-3
"""rad, for the derivative by the direction of gravity."""


def suspects_of_robot(
    model: BaseModel, courses: Sequence[Course], ripples: Mapping[int, Ripple], closed: bool
) -> list[Suspect]:
    """Everything that can be asked about the robot itself; `ripples` are the spectra of the
    residuals over the positions, by joint.
    """
    n, found = model.robot.n, []
    for j in range(n):
        found += [*_friction(model, courses, j), _spring(model, courses, j), _drive(j), _zero(j)]
    found += [_ripple(model, each) for each in ripples.values()]
    found += [each for j in range(n - 1) for each in _couplings(model, j)]
    if np.any(model.robot.gravity):
        found.append(Suspect("gravity", "gravity", Remedy.GRAVITY, None, "rad", 2, _gravity))
    found += [_payload(model, k) for k in range(1, 1 + courses[-1].record)]
    if not closed:
        late = Suspect("time shift", "time shift", Remedy.TIME_SHIFT, unit="s", torque=_late)
        found.append(replace(late, usual=True))
    return found


def _friction(model: BaseModel, courses: Sequence[Course], j: int) -> list[Suspect]:
    """Friction of a joint beyond what the model has."""
    parameters = model.full.parameters
    has = {each.symbol for each in parameters if each.joint == j and each.coupling is None}
    linear = model.robot.coordinates[j].kind == "prismatic"
    torque, damping = ("N", "N s/m") if linear else ("N m", "N m s/rad")
    inertia, quadratic = ("kg", "N s²/m²") if linear else ("kg m²", "N m s²/rad²")
    fastest = max(float(np.abs(each.states.dq[:, j]).max()) for each in courses)

    def dq(course: Course) -> Array:
        return course.states.dq[:, j]

    def slip(course: Course) -> Array:
        return _slip(course, j)

    def suspect(
        effect: str, symbol: str, unit: str, signal: Signal, group: str = "", **shapes: float
    ) -> Suspect:
        return Suspect(
            f"{symbol}{j + 1}",
            group or effect,
            Remedy.EFFECT,
            j,
            unit,
            torque=on_joint(j, signal),
            effect=effect,
            shapes=shapes,
        )

    found = []
    uneven = "asymmetric friction"
    if "Ia" not in has:
        found.append(suspect("rotor", "Ia", inertia, lambda c: c.states.ddq[:, j]))
    if not has & {"Fv", "Fvp"}:
        found.append(suspect("viscous", "Fv", damping, dq))
    if not has & {"Fc", "Fcp"}:
        found.append(suspect("coulomb", "Fc", torque, slip))
    if not has & {"off", "Fcp"}:
        found.append(suspect("offset", "off", torque, lambda c: np.ones(c.t.size), uneven))
    if "Fcp" not in has:
        uneven_coulomb = suspect(
            "asymmetric_coulomb", "dFc", torque, lambda c: np.abs(slip(c)), uneven
        )
        found.append(uneven_coulomb)
    if "Fvp" not in has:
        uneven_viscous = suspect(
            "asymmetric_viscous", "dFv", damping, lambda c: np.abs(dq(c)), uneven
        )
        found.append(uneven_viscous)
    for part in STRIBECK_VELOCITIES if "dFs" not in has and fastest > 0 else ():
        found.append(suspect("stribeck", "dFs", torque, _falling(j, vs := part * fastest), vs=vs))
    if not has & {"mu", "mup"}:
        found.append(suspect("load_friction", "mu", "", lambda c: slip(c) * np.abs(c.load[:, j])))
    if "Fvq" not in has:
        found.append(suspect("viscous_power", "Fvq", quadratic, lambda c: dq(c) * np.abs(dq(c))))
        found.append(suspect("viscous_power", "Fvr", torque, lambda c: _root(dq(c))))
    return found


def _root(dq: Array) -> Array:
    """The root of a velocity, as the catalogue has it."""
    return np.asarray(dq / np.sqrt(np.abs(dq) + ROOT_VELOCITY))


def _falling(j: int, vs: float) -> Signal:
    """Stribeck's friction of joint j."""
    return lambda course: _slip(course, j) * np.exp(-((course.states.dq[:, j] / vs) ** 2))


def _slip(course: Course, j: int) -> Array:
    """(N,) slip of the contact of joint j: the direction of its friction."""
    model, states, name = course.model, course.states, f"Fc{j + 1}"
    if states.slip is not None and name in model.contacts:
        return np.asarray(states.slip[:, model.contacts.index(name)])
    return np.asarray(np.sign(states.dq[:, j]))


def _spring(model: BaseModel, courses: Sequence[Course], j: int) -> Suspect:
    middle = float(np.mean(np.concatenate([each.states.q[:, j] for each in courses])))
    unit = "N/m" if model.robot.coordinates[j].kind == "prismatic" else "N m/rad"
    torque = on_joint(j, lambda course: course.states.q[:, j] - middle)
    shapes = {"qs": middle}
    return Suspect(
        f"ks{j + 1}", "spring", Remedy.EFFECT, j, unit, 1, torque, effect="spring", shapes=shapes
    )


def _ripple(model: BaseModel, seen: Ripple) -> Suspect:
    """The largest sine in the residual of a joint over its position."""
    j, order = seen.joint, seen.order
    unit = "N" if model.robot.coordinates[j].kind == "prismatic" else "N m"

    def torque(course: Course) -> list[Torques]:
        angle = order * course.states.q[:, j]
        return [{j: np.sin(angle)}, {j: np.cos(angle)}]

    return Suspect(
        f"ripple{j + 1}",
        "ripple",
        Remedy.EFFECT,
        j,
        unit,
        2,
        torque,
        effect="ripple",
        shapes={"order": order},
        tried=seen.independent,
    )


def _drive(j: int) -> Suspect:
    """The torque of a joint is (1 + theta) times the recorded one; in percent."""
    torque = on_joint(j, lambda course: -0.01 * course.tau[:, j])
    return Suspect(f"drive{j + 1}", "drive gains", Remedy.DRIVE_GAIN, j, "%", torque=torque)


def _zero(j: int) -> Suspect:
    """The joint is where its encoder says, plus theta."""
    return Suspect(
        f"zero{j + 1}",
        "joint zeros",
        Remedy.JOINT_ZERO,
        j,
        "rad",
        torque=lambda course: [on_joints(course.by_position[:, :, j])],
    )


def _couplings(model: BaseModel, j: int) -> list[Suspect]:
    """The motor of joint j + 1 turns with joint j too, as in wrists: rotor and viscous friction."""
    pair = f"{j + 1}{j + 2}"

    def cross(symbol: str, unit: str, signal: Signal) -> Suspect:
        def torque(course: Course) -> list[Torques]:
            return [{j: signal(course)[:, j + 1], j + 1: signal(course)[:, j]}]

        return Suspect(f"{symbol}{pair}", "couplings", Remedy.COUPLING, j, unit, torque=torque)

    if {model.robot.coordinates[i].kind for i in (j, j + 1)} == {"revolute"}:
        units = "kg m²", "N m s/rad"
    else:
        units = "", ""
    return [
        cross("Iam", units[0], lambda course: course.states.ddq),
        cross("Fvm", units[1], lambda course: course.states.dq),
    ]


def _gravity(course: Course) -> list[Torques]:
    """Gravity turned about two axes across it, by theta each."""
    model, states = course.model.full, course.states
    phi, rest = course.model.standard(course.parameters), np.zeros_like(states.q)
    still, found = model.no_signals(course.t.size), []
    upright = model.inverse_dynamics(states.q, rest, rest, phi, None, still)
    for tilted in _tilted(model):
        torque = tilted.inverse_dynamics(states.q, rest, rest, phi, None, still)
        found.append(on_joints((torque - upright) / TILT))
    return found


@lru_cache(maxsize=1)
def _tilted(model: DynamicModel) -> list[DynamicModel]:
    """The model with gravity turned about two axes across it."""
    gravity = np.asarray(model.robot.gravity, dtype=float)
    down = gravity / np.linalg.norm(gravity)
    first = np.cross(down, np.eye(3)[int(np.abs(down).argmin())])
    first /= np.linalg.norm(first)
    turned = [
        replace(model.robot, gravity=gravity + TILT * np.cross(axis, gravity))
        for axis in (first, np.cross(down, first))
    ]
    return [DynamicModel(robot, model.effects) for robot in turned]


def _payload(model: BaseModel, record: int) -> Suspect:
    """A load at the last link in one of the records, which the first one does not have: its mass
    and first moments.
    """
    last = model.robot.n - 1
    chosen = [int(model.layout.link[last, LINK.index(each)]) for each in MOMENTS]

    def torque(course: Course) -> list[Torques]:
        full, states = course.model.full, course.states
        if course.record != record:
            return [on_joints(np.zeros_like(states.q)) for _ in chosen]
        found = []
        for column in chosen:
            phi = np.zeros(len(full.parameter_names))
            phi[column] = 1.0
            motion = states.q, states.dq, states.ddq, phi, states.slip
            found.append(on_joints(full.inverse_dynamics(*motion, full.no_signals(course.t.size))))
        return found

    name = f"payload in record {record + 1}"
    return Suspect(name, "payload", Remedy.PAYLOAD, last, "kg", len(chosen), torque)


def _late(course: Course) -> list[Torques]:
    """The torque was recorded later than the positions."""
    return [on_joints(-np.gradient(course.tau, course.t, axis=0))]
