"""Whether a motion meets its limits at every instant: the reference and the motion in the loop, at
1 kHz, with bounds for what happens between the samples.

A smooth signal exceeds its samples by at most an eighth of its second difference; a distance falls
below them by at most half of its change from one sample to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.linear import linearise
from didim.design.clearance import Clearances
from didim.design.limits import Limits
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.signals.trajectory import Trajectory
from didim.simulation.motion import Motion
from didim.simulation.simulate import simulate

Array = NDArray[np.float64]
Sampling = Callable[[Array], Array]
"""From times (N,) to a motion and its derivatives up to the jerk, (4, N, n)."""

KINDS = ("position", "velocity", "acceleration", "jerk", "torque")
"""Of limits that each joint has."""

PERIOD = 1e-3
"""Between two samples that are checked, s."""

TURNING_STEPS = 41
"""At which the torque is looked at between two samples of opposite friction."""

BETWEEN = 0.25
"""Of a second difference, twice what a smooth signal can rise above its samples."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A motion and how far it is from its limits."""

    motion: Motion
    margins: dict[str, float]
    """By the name of the limit, as a fraction of it; negative where it is violated."""

    @property
    def worst(self) -> tuple[str, float]:
        """The limit with the least margin."""
        name = min(self.margins, key=lambda each: self.margins[each])
        return name, self.margins[name]

    @property
    def is_feasible(self) -> bool:
        """Whether every limit is met."""
        return self.worst[1] >= 0


@dataclass(frozen=True, eq=False)
class Verification:
    """What a motion is checked with."""

    model: BaseModel
    parameters: Array
    loop: Controller | None
    limits: Limits
    clearances: Clearances | None

    @cached_property
    def joints(self) -> dict[str, int]:
        """The joint of each limit that is one joint's own."""
        names = self.model.robot.joint_names
        return {_named(kind, name): j for kind in KINDS for j, name in enumerate(names)}

    def refuse_unstable_loop(self, pose: Array) -> None:
        """Refuse a loop in which small deviations from a pose (n,) grow, by its linear model: dry
        friction may hide it in a simulation. A user's own law has no such model, and a joint
        without a motor no loop.
        """
        robot = self.model.robot
        if self.loop is None or not robot.driven.all():
            return
        linear = linearise(self.model, self.parameters, self.loop, pose)
        if linear is None or linear.stable:
            return
        measure = (
            f"spectral radius {linear.spectral_radius:.4g} per sample"
            if linear.sampled
            else f"a pole at {linear.eigenvalues.real.max():.3g} 1/s"
        )
        raise InputError(
            f"The robot cannot follow any plan in this loop, which is unstable: {measure}, mostly "
            f"joint {robot.joint_names[linear.worst_joint]}. Lower its gains or its delay, or "
            "check rate and drive gain."
        )

    def reference(self, sampled: Sampling, duration: float) -> dict[str, float]:
        """Margins of the reference alone."""
        t = _clock(duration)
        parts = [sampled(t[start : start + 10_000]) for start in range(0, t.size, 10_000)]
        q, dq, ddq, dddq = np.concatenate(parts, axis=1)
        names, limits = self.model.robot.joint_names, self.limits
        found = self._position(q)
        given = limits.velocity, limits.acceleration, limits.jerk
        for kind, signal, limit in zip(KINDS[1:4], (dq, ddq, dddq), given, strict=True):
            found |= _margins(kind, names, signal, limit)
        return found | self._clear(q)

    def check(self, trajectory: Trajectory, reference: dict[str, float]) -> Checked:
        """Margins of the reference, as they are given, and of the motion in the loop."""
        motion, names = self.along(trajectory), self.model.robot.joint_names
        limited = np.isfinite(self.limits.torque)
        found = self._position(motion.q)
        found |= _margins("velocity", names, motion.dq, self.limits.velocity)
        torque = self._torque(trajectory, motion)
        found |= {
            key: value for (key, value), used in zip(torque.items(), limited, strict=True) if used
        }
        found |= self._clear(motion.q)
        return Checked(motion, least_margins(reference, found))

    def _torque(self, trajectory: Trajectory, motion: Motion) -> dict[str, float]:
        """Margins of the torque. Along the reference, Coulomb friction jumps where a joint turns
        round: between two such samples the torque is looked at in steps, with the friction of both
        directions; in a loop, the law does not jump.
        """
        names, usable = self.model.robot.joint_names, self.limits.usable_torque
        if self.loop is not None:
            return _margins("torque", names, motion.tau, usable)
        turns = np.any(motion.slip[1:] != motion.slip[:-1], axis=1)
        near = turns[1:] | turns[:-1]
        still = self._along(motion.q, motion.dq, motion.ddq, np.zeros_like(motion.slip))
        rises = [np.abs(np.diff(each, 2, axis=0)) for each in (still, motion.tau)]
        rise = BETWEEN * np.where(near[:, None], *rises).max(axis=0)
        peak = np.maximum(np.abs(motion.tau).max(axis=0), self._turning(trajectory, motion, turns))
        margins = 1.0 - (peak + rise) / usable
        return {
            _named("torque", name): float(each) for name, each in zip(names, margins, strict=True)
        }

    def _turning(self, trajectory: Trajectory, motion: Motion, turns: NDArray[np.bool_]) -> Array:
        """(n,) the largest |torque| where contacts turn round, in either direction."""
        at, step = np.flatnonzero(turns), motion.t[1] - motion.t[0]
        if not at.size:
            return np.zeros(motion.tau.shape[1])
        fractions = np.linspace(0.0, 1.0, TURNING_STEPS)
        q, dq, ddq = trajectory.sample((motion.t[at, None] + step * fractions).ravel())
        stops = np.repeat(motion.dq[at] * motion.dq[at + 1] <= 0, TURNING_STEPS, axis=0)
        speeds = dq, np.where(stops, 0.0, dq)  # where friction may have a narrow peak
        before, after = (
            np.repeat(np.where(each == 0, other, each), TURNING_STEPS, axis=0)
            for each, other in (
                (motion.slip[at], motion.slip[at + 1]),
                (motion.slip[at + 1], motion.slip[at]),
            )
        )
        signs = [before, after]
        for k in range(before.shape[1] if before.shape[1] > 1 else 0):  # one of several first
            first = before.copy()
            first[:, k] = after[:, k]
            signs.append(first)
        found = [self._along(q, speed, ddq, each) for speed in speeds for each in signs]
        return np.abs(found).max(axis=(0, 1))

    def _along(self, q: Array, dq: Array, ddq: Array, slip: Array) -> Array:
        return self.model.inverse_dynamics(q, dq, ddq, self.parameters, slip)

    def excess(self, checked: Checked) -> Array:
        """(5, n) by which fraction each joint exceeds its limits, in the order of `KINDS`."""
        names = self.model.robot.joint_names
        found = [[checked.margins.get(_named(kind, name), 0.0) for name in names] for kind in KINDS]
        return np.maximum(-np.array(found), 0.0)

    def shortfall(self, checked: Checked) -> Array:
        """(k,) by how much each clearance is too small in the loop, m."""
        return np.maximum(0.0, -self._distances(checked.motion.q)[0])

    def along(self, trajectory: Trajectory) -> Motion:
        """The motion that follows a trajectory, at 1 kHz: in the loop, or as the reference."""
        t = _clock(trajectory.span[1])
        if self.loop is not None:
            motion = simulate(
                self.model, self.parameters, self.loop, t=t, q_ref=trajectory, check=False
            )
            if not motion.completed:
                raise InputError(
                    f"The robot cannot follow any plan in this loop: {motion.message} Check the "
                    "controller's gains, rate and drive gain."
                )
            return motion
        q, dq, ddq = trajectory.sample(t)
        slip = np.sign(self.model.contact_velocities(dq))
        tau = self._along(q, dq, ddq, slip)
        motion = Motion(t, q, dq, ddq, tau, slip, np.zeros(slip.shape, dtype=bool))
        return motion.with_signals(self.model, self.parameters, None)

    def _position(self, q: Array) -> dict[str, float]:
        lower, upper = self.limits.position.T
        half, rise = 0.5 * (upper - lower), _between(q)
        room = np.minimum((q - lower).min(axis=0), (upper - q).min(axis=0)) - rise
        names = self.model.robot.joint_names
        return {
            _named("position", name): float(each)
            for name, each in zip(names, room / half, strict=True)
        }

    def _distances(self, q: Array) -> tuple[Array, Array]:
        """(k,) the least and the largest of each clearance along positions (N, n), m."""
        if self.clearances is None or not self.clearances.names:
            return np.zeros(0), np.zeros(0)
        distance = self.clearances.distances(q)
        change = np.abs(np.diff(distance, axis=0)).max(axis=0)
        return distance.min(axis=0) - 0.5 * change, distance.max(axis=0)

    def _clear(self, q: Array) -> dict[str, float]:
        names = () if self.clearances is None else self.clearances.names
        least, most = self._distances(q)
        ratio = least / np.where(most > 0, most, 1.0)
        return dict(zip(names, ratio.tolist(), strict=True))


def least_margins(*margins: dict[str, float]) -> dict[str, float]:
    """Of each limit, the least margin of several parts of a motion."""
    found: dict[str, float] = {}
    for each in margins:
        found |= {name: min(value, found.get(name, np.inf)) for name, value in each.items()}
    return found


def _clock(duration: float) -> Array:
    return np.linspace(0.0, duration, int(np.ceil(duration / PERIOD - 1e-6)) + 1)


def _between(signal: Array) -> Array:
    """(n,) how far a signal (N, n) may be above its samples."""
    return BETWEEN * np.abs(np.diff(signal, 2, axis=0)).max(axis=0)


def _margins(kind: str, names: tuple[str, ...], signal: Array, limit: Array) -> dict[str, float]:
    peak = np.abs(signal).max(axis=0) + _between(signal)
    margins = 1.0 - peak / limit
    return {_named(kind, name): float(each) for name, each in zip(names, margins, strict=True)}


def _named(kind: str, joint: str) -> str:
    return f"{kind} of {joint}"
