"""What the control law may have that the simulated one lacks: other gains, integral action, a
velocity reference, feedforward, delays, saturation.

Most come twice: for one joint, and for all joints together, as one number of the law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import COMPUTED_TORQUE, FEEDFORWARD, Law
from didim.control.law import GAINS
from didim.results.lack_of_fit import Remedy
from didim.structure.suspect import Course, Signals, Suspect, Torques, on_joints

Array = NDArray[np.float64]
Commands = Callable[[Course], Array]
"""Torques (N, n) that commands of all joints make."""

SATURATED = 0.002
"""Fraction of the samples in which a simulated command must exceed the largest recorded one."""

PERCENT = 0.01


def suspects_of_loop(
    law: Law, courses: Sequence[Course], largest: Array, estimated: Sequence[str]
) -> list[Suspect]:
    """Everything that can be asked about the law; `largest` (n,) are the largest recorded torques,
    `estimated` the gains and "delay" that were unknowns of the fit.
    """
    n = law.kp.size
    found = [each for kind in GAINS for each in _gains(law, kind, estimated)]
    found.append(Suspect("delay", "delay", Remedy.DELAY, None, "s", command=_command_late))
    if law.kind == COMPUTED_TORQUE:
        return found
    if "delay" not in estimated:
        late = Suspect("reference delay", "delay", Remedy.REFERENCE_DELAY, unit="s")
        found.append(replace(late, command=_reference_late))
    for kind in ("ki", "kiv"):
        if not getattr(law, kind).any():
            found += _one_and_all(n, kind, "integral", Remedy.INTEGRAL, "1/s", _integral(kind))
    found += _one_and_all(
        n, "ff", "velocity reference", Remedy.VELOCITY_REFERENCE, "", _velocity_reference
    )
    if law.kind != FEEDFORWARD:
        found += _one_and_all(n, "feedforward", "feedforward", Remedy.FEEDFORWARD, "", _feedforward)
    for j in range(n):
        if max(np.mean(np.abs(each.tau[:, j]) > largest[j]) for each in courses) > SATURATED:
            command = _beyond(j, float(largest[j]))
            found.append(
                Suspect(f"saturation{j + 1}", "saturation", Remedy.SATURATION, j, command=command)
            )
    return found


def _gains(law: Law, kind: str, estimated: Sequence[str]) -> list[Suspect]:
    """Gains that are not zero, each and all together, in percent."""
    values = getattr(law, kind)
    weights = {
        j: {f"{kind}{j + 1}": PERCENT * float(values[j])}
        for j in np.flatnonzero(values).tolist()
        if f"{kind}{j + 1}" not in estimated
    }
    found = [
        Suspect(f"{kind}{j + 1}", "gains", Remedy.GAIN, j, "%", directions=each)
        for j, each in weights.items()
    ]
    if len(weights) > 1:
        every = {name: value for each in weights.values() for name, value in each.items()}
        found.append(Suspect(kind, "gains", Remedy.GAIN, None, "%", directions=every))
    return found


def _one_and_all(
    n: int, name: str, group: str, remedy: Remedy, unit: str, commands: Commands
) -> list[Suspect]:
    """The suspect of each joint, and that of all joints together."""
    commands = lru_cache(maxsize=2)(commands)  # of the part that all of them are asked for

    def single(j: int) -> Signals:
        return lambda course: [{j: commands(course)[:, j]}]

    found = [Suspect(f"{name}{j + 1}", group, remedy, j, unit, command=single(j)) for j in range(n)]
    if n > 1:
        every = Suspect(
            name, group, remedy, None, unit, command=lambda course: [on_joints(commands(course))]
        )
        found.append(every)
    return found


def _parts(course: Course) -> tuple[Law, tuple[Array, Array, Array]]:
    assert course.law is not None
    assert course.reference is not None
    return course.law, course.reference


def _torque_of(law: Law, v: Array) -> Array:
    """g v (N, n)."""
    return np.asarray(v @ law.gain.T)


def _integral(kind: str) -> Commands:
    """Integral action in units of 1 / integral time: ki = kp kv theta, or kiv = kv theta."""

    def commands(course: Course) -> Array:
        law, _ = _parts(course)
        e, dq, dq_r, _ = course.integrals
        s = law.kp * e + law.ff * dq_r - dq
        return _torque_of(law, law.kv * (law.kp * e if kind == "ki" else s))

    return commands


def _velocity_reference(course: Course) -> Array:
    law, (_, dq_r, _) = _parts(course)
    return _torque_of(law, law.kv * dq_r + law.kiv * course.integrals[2])


def _feedforward(course: Course) -> Array:
    """The torque of the model along the reference."""
    model, (q_r, dq_r, ddq_r) = course.model, _parts(course)[1]
    signals = {**model.no_signals(course.t.size), **course.states.signals}
    return model.inverse_dynamics(q_r, dq_r, ddq_r, course.parameters, None, signals)


def _reference_late(course: Course) -> list[Torques]:
    """q_r(t - theta)."""
    law, (_, dq_r, ddq_r) = _parts(course)
    _, _, moved, gained = course.integrals
    s, summed = law.kp * dq_r + law.ff * ddq_r, law.kp * moved + law.ff * gained
    v = law.kv * s + law.ki * moved + law.kiv * summed
    return [on_joints(-_torque_of(law, v))]


def _command_late(course: Course) -> list[Torques]:
    """v(t - theta)."""
    return [on_joints(course.later_torque)]


def _beyond(j: int, limit: float) -> Signals:
    """What a saturation takes away."""
    return lambda course: [{j: np.clip(course.tau[:, j], -limit, limit) - course.tau[:, j]}]
