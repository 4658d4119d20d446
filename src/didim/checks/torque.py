"""Checks of the torque against the motion: its sign, and its size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.checks.data import CheckData
from didim.checks.finding import Finding, unjudged
from didim.checks.least_squares import joint_fit
from didim.checks.signals import MAX_TORQUE_LIMIT_RATIO
from didim.signals.states import States
from didim.simulation.records import SILENT

Array = NDArray[np.float64]

MAX_SAMPLES = 4000
"""Samples that the checks look at, at most."""

MIN_FRICTION_POWER = 0.05
"""Fraction of a joint's torque beyond which the power of fitted friction tells its sign."""

MAX_FRICTION_POWER, MAX_POWER_SIGMA = 1.2, 0.15
"""The largest such fraction, and the largest standard deviation of it, of a fit that is believed: a
fit to a short part may have large terms that cancel.
"""

MIN_SIGMAS = 2.0
"""Standard deviations beyond which that power is certain."""

MIN_PART_ROWS = 3
"""Rows of a part of a record that can say anything."""

MAX_UNEXPLAINED = 0.3
"""Fraction of a joint's varying torque that its own equations leave where columns are mixed up."""

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
    return some, data.even_tau[chosen]


def torque_sign(data: CheckData) -> Iterator[Finding]:
    """A torque that opposes the motion: each joint's equations are fitted alone, and friction must
    dissipate energy. A sign is called wrong only if no half of the record says that it is right.
    """
    if (found := _thinned(data)) is None:
        return
    states, tau = found
    idle = data.model.no_signals(len(states.q))
    W = data.model.base.regressor(states.q, states.dq, states.ddq, None, idle)
    quarter = tau.shape[0] // 4
    parts = [slice(k * quarter, (k + 2) * quarter) for k in range(3)]
    against: list[int] = []
    doubtful: list[int] = []
    judged = 0
    for j in range(tau.shape[1]):
        whole = _friction_power(data, W, states, tau, j, slice(None))
        if whole is None:
            continue
        judged += 1
        if whole.power < -MIN_FRICTION_POWER:
            others = (_friction_power(data, W, states, tau, j, rows) for rows in parts)
            overturned = any(map(_dissipates, others))
            (doubtful if overturned or not _drives(whole) else against).append(j)
    if not judged:
        yield unjudged(
            "torque sign",
            "the model has no friction, or nothing moves",
            "include viscous and coulomb in effects.",
        )
        return
    if against:
        signs = ", ".join("-1.0" if j in against else "1.0" for j in range(tau.shape[1]))
        yield Finding(
            "torque sign",
            "fail" if data.is_measured else "warn",
            f"the torque opposes the motion: friction would add energy to {data.listed(against)}",
            f"columns mixed up, or a sign inverted: multiply the unit of tau by [{signs}].",
        )
    if doubtful:
        yield Finding(
            "torque sign",
            "warn",
            f"friction seems to add energy to {data.listed(doubtful)}; this is not certain, or not "
            "so in a part of the record",
            "look at columns and units, and at what the model lacks; a richer motion tells more.",
        )
    if not against and not doubtful:
        yield Finding("torque sign", "pass", "friction dissipates energy in every joint")


@dataclass(frozen=True)
class _Power:
    """That fitted friction takes from the motion of a joint, over that of its varying torque."""

    power: float
    sigma: float
    unexplained: float
    """Fraction of the varying torque that the fit leaves."""


def _drives(found: _Power) -> bool:
    """Whether friction that adds energy does so for certain, or in a fit so poor that the columns
    must be wrong.
    """
    return -found.power > MIN_SIGMAS * found.sigma or found.unexplained > MAX_UNEXPLAINED


def _dissipates(found: _Power | None) -> bool:
    """Whether friction clearly takes energy, in a fit that can be believed."""
    return (
        found is not None
        and found.sigma < MAX_POWER_SIGMA
        and max(MIN_FRICTION_POWER, MIN_SIGMAS * found.sigma) < found.power < MAX_FRICTION_POWER
    )


def _friction_power(
    data: CheckData, W: Array, states: States, tau: Array, j: int, rows: slice
) -> _Power | None:
    """What the fitted friction of joint j takes from the motion at these rows; None where there is
    no friction or no motion.
    """
    parameters = data.model.base.parameters
    friction = np.array(
        [each.kind.is_friction and each.joint == j and each.coupling is None for each in parameters]
    )
    own, dq, torque = W[rows, j], states.dq[rows, j], tau[rows, j]
    if not friction.any() or torque.size < MIN_PART_ROWS:
        return None
    if np.ptp(torque) == 0 or np.ptp(states.q[rows, j]) == 0:
        return None
    fit = joint_fit(own, torque)
    taken = np.where(friction, dq @ own, 0.0)
    power, variance = float(taken @ fit.values), float(taken @ fit.covariance @ taken)
    unit = float(np.linalg.norm(dq) * np.linalg.norm(torque - torque.mean()))
    left = float(np.linalg.norm(fit.residual) * np.linalg.norm(dq))
    return _Power(power / unit, float(np.sqrt(max(variance, 0.0))) / unit, left / unit)


def torque_size(data: CheckData) -> Iterator[Finding]:
    """A torque far from that of the description or from the limits: amperes, or the motors'
    side.
    """
    tau = data.tau
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
        yield unjudged(
            "torque size",
            "no description or no motion to compare with",
            "compare the largest torques with what the drives can give.",
        )
        return
    states, some = found
    idle = data.model.no_signals(len(states.q))
    expected = data.model.inverse_dynamics(states.q, states.dq, states.ddq, phi, None, idle)
    rms, right = np.sqrt(np.mean(some**2, axis=0)), np.sqrt(np.mean(expected**2, axis=0))
    ratio = rms / np.where(right > 0, right, 1.0)
    nominal = data.model.nominal
    whole = np.isfinite(nominal).all() and any(
        value > 0
        for each, value in zip(data.model.parameters, nominal, strict=True)
        if each.kind.is_friction
    )
    large = (right > 0) & (ratio > MAX_TORQUE_RATIO)
    # friction and rotors that are not described may be most of a wrist's torque, not of all joints'
    certain = whole or bool(large.size > 1 and large.all())
    odd = (right > 0) & (ratio < 1 / MAX_TORQUE_RATIO) | large & certain
    ratios = ", ".join(f"{data.label(j)} {ratio[j]:.2g}" for j in np.flatnonzero(odd | large))
    text = f"ratio of measured to described torque: {ratios}"
    if odd.any():
        yield Finding("torque size", "warn", text, hint)
    elif large.any():
        yield unjudged(
            "torque size",
            f"{text}, where friction and rotors are not described",
            "describe them, or see that the unit of these torques is right.",
        )
    else:
        yield Finding(
            "torque size",
            "pass",
            f"{ratio.min():.2g} to {ratio.max():.2g} times the torque of the description",
        )
