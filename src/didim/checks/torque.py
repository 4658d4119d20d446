"""Checks of the torque against the motion: its sign, and its size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from didim.checks.data import CheckData
from didim.checks.finding import Finding
from didim.checks.signals import MAX_TORQUE_LIMIT_RATIO
from didim.signals.states import States
from didim.simulation.records import SILENT

Array = NDArray[np.float64]

MAX_SAMPLES = 4000
"""Samples that the checks look at, at most."""

MIN_FRICTION_POWER = -0.05
"""Fraction of a joint's torque by which fitted friction may drive it before its sign is
questioned.
"""

MAX_TORQUE_RATIO = 5.0
"""Ratio of measured to described torque beyond which the units are questioned."""


def _thinned(data: CheckData) -> tuple[States, Array] | None:
    """Motion and torque at some thousand samples; nothing where there is no motion."""
    if data.states is None:
        return None
    count = data.even.t.size
    chosen = np.arange(count)[data.inner][:: -(-count // MAX_SAMPLES)]
    states = data.states
    some = States(states.q[chosen], states.dq[chosen], states.ddq[chosen])
    return some, data.even.tau[chosen]


def torque_sign(data: CheckData) -> Iterator[Finding]:
    """A torque that opposes the motion: each joint's equations are fitted alone, and friction must
    dissipate energy.
    """
    if (found := _thinned(data)) is None:
        return
    states, tau = found
    base = data.model.base
    W = base.regressor(states.q, states.dq, states.ddq)
    against, judged = [], 0
    for j in range(tau.shape[1]):
        columns = [
            k
            for k, each in enumerate(base.parameters)
            if each.kind.is_friction and each.joint == j and each.coupling is None
        ]
        used = np.flatnonzero(np.abs(W[:, j]).max(axis=0) > 0)
        if not columns or np.ptp(tau[:, j]) == 0 or np.ptp(states.q[:, j]) == 0:
            continue
        judged += 1
        size = np.linalg.norm(W[:, j, used], axis=0)
        values = np.linalg.lstsq(W[:, j, used] / size, tau[:, j], rcond=1e-6)[0] / size
        friction = W[:, j][:, columns] @ np.array(
            [dict(zip(used, values, strict=True)).get(k, 0.0) for k in columns]
        )
        speed = np.linalg.norm(states.dq[:, j])
        if friction @ states.dq[:, j] < MIN_FRICTION_POWER * speed * np.linalg.norm(
            tau[:, j] - tau[:, j].mean()
        ):
            against.append(j)
    if not judged:
        yield Finding(
            "torque sign", "pass", "not judged: the model has no friction, or nothing moves"
        )
    elif against:
        signs = ", ".join("-1.0" if j in against else "1.0" for j in range(tau.shape[1]))
        yield Finding(
            "torque sign",
            "fail" if data.is_measured else "warn",
            f"the torque opposes the motion: friction would add energy to {data.listed(against)}",
            f"columns mixed up, or a sign inverted: multiply the unit of tau by [{signs}].",
        )
    else:
        yield Finding("torque sign", "pass", "friction dissipates energy in every joint")


def torque_size(data: CheckData) -> Iterator[Finding]:
    """A torque far from that of the description or from the limits: amperes, or the motors'
    side.
    """
    tau = data.record.tau
    largest, limits = np.abs(tau).max(axis=0), data.model.robot.torque_limits
    silent = np.flatnonzero(largest < SILENT)
    if silent.size:
        yield Finding(
            "torque size",
            "fail",
            f"the torque of {data.listed(silent)} is zero throughout",
            "was it recorded, and is it in the right column?",
        )
        return
    hint = "amperes, or torques of the motors? units = { tau = <N.m per A> }, or gear."
    over = np.flatnonzero(largest > MAX_TORQUE_LIMIT_RATIO * limits)
    if over.size:
        j = int(over[0])
        yield Finding(
            "torque size",
            "warn",
            f"{data.label(j)} has up to {largest[j]:.3g}, its limit is {limits[j]:.3g} N.m or N",
            hint,
        )
        return
    found, phi = _thinned(data), data.model.described
    if found is None or not np.isfinite(phi).all():
        yield Finding(
            "torque size", "pass", "not judged: the description gives no values to compare with"
        )
        return
    states, some = found
    expected = data.model.inverse_dynamics(states.q, states.dq, states.ddq, phi)
    rms, right = np.sqrt(np.mean(some**2, axis=0)), np.sqrt(np.mean(expected**2, axis=0))
    ratio = rms / np.where(right > 0, right, 1.0)
    nominal = data.model.nominal
    whole = np.isfinite(nominal).all() and any(
        value > 0
        for each, value in zip(data.model.parameters, nominal, strict=True)
        if each.kind.is_friction
    )
    high = (
        ratio > MAX_TORQUE_RATIO if whole else np.zeros(ratio.size, dtype=bool)
    )  # friction and rotors may be most of a wrist's torque
    odd = np.flatnonzero((right > 0) & (high | (ratio < 1 / MAX_TORQUE_RATIO)))
    if odd.size:
        ratios = ", ".join(f"{data.label(j)} {ratio[j]:.2g}" for j in odd)
        yield Finding(
            "torque size", "warn", f"ratio of measured to described torque: {ratios}", hint
        )
    else:
        yield Finding(
            "torque size",
            "pass",
            f"{ratio.min():.2g} to {ratio.max():.2g} times the torque of the description",
        )
