"""The control loop of the simulations: gains that follow the inertia (59), are given, or unknown.

Unknown gains of the law and of the drives are estimated as logarithms of factors on those of the
assumed loop; a delay of the reference, zeros of the joints and biases of the log may be unknown
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.law import BIAS, DRIVE_GAIN, GAINS, ZERO, Controller, Gains
from didim.control.laws import ComputedTorque, OwnLaw
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest

Array = NDArray[np.float64]

GAIN_SPREAD = 0.7
"""Prior standard deviation of the logarithm of a gain's factor."""

GAIN_STEP = 0.5
"""Largest change of such a logarithm in one step."""

EstimatedGains = bool | tuple[str, ...]
"""Whether the gains of the law are unknowns: all that are not zero, none, or those of some names,
"kiv" for all joints or "kp1" for one.
"""

DELAY_SPREAD = 0.02
"""Prior standard deviation of the delay, s."""

DELAY_STEP = 0.01
"""Largest change of the delay in one step, s."""

OFFSET_SPREAD = 0.2
"""Prior standard deviation of a zero or bias, rad or m."""

OFFSET_STEP = 0.05
"""Largest change of one in a step, rad or m."""

OFFSETS = (ZERO, BIAS)


@dataclass(frozen=True, eq=False)
class SimulatedLoop:
    """The loop as a function of z (e,): the logarithms of its gain factors, the delay (s), zeros
    and biases (rad or m); and of the inertia J (n,) that its gains follow.
    """

    controller: Controller | None
    """The assumed loop, at z = 0; None: open loop."""
    follows_inertia: bool = False
    """Whether the gains are retuned for J (59)."""
    unknown_gains: Gains | None = None
    """Their values at z = 0; None: the gains are known, or follow J."""
    which: EstimatedGains = True
    """Which of them are unknown."""
    has_delay: bool = False
    drive: Array | None = None
    """(n,) drive gains at z = 0, where some of them are unknown."""
    offsets: tuple[tuple[str, int], ...] = ()
    """Kind, "zero" or "bias", and joint of each that is unknown."""

    def __post_init__(self) -> None:
        if self.unknown_gains is None or isinstance(self.which, bool):
            return
        known = {name for kind, j in self._nonzero for name in (kind, f"{kind}{j + 1}")}
        for name in self.which:
            if name not in known:
                raise InputError(
                    f"estimate_gains: the law has no gain {name!r}; {nearest(name, sorted(known))}"
                )

    @property
    def is_closed(self) -> bool:
        """Whether there is a controller."""
        return self.controller is not None

    @property
    def gains(self) -> list[tuple[str, int]]:
        """Kind and joint of each unknown gain."""
        if isinstance(self.which, bool):
            return [each for each in self._nonzero if each[0] != DRIVE_GAIN]
        chosen = self.which
        return [(k, j) for k, j in self._nonzero if k in chosen or f"{k}{j + 1}" in chosen]

    @property
    def _nonzero(self) -> list[tuple[str, int]]:
        """Kind and joint of each gain that may be unknown: those that are not zero."""
        if self.unknown_gains is None or self.controller is None:
            return []
        kinds = (*self.controller.unknown_kinds, DRIVE_GAIN)
        return [(kind, int(j)) for kind in kinds for j in np.flatnonzero(self._start(kind))]

    def _start(self, kind: str) -> Array:
        """(n,) gains of a kind at z = 0."""
        found = self.drive if kind == DRIVE_GAIN else getattr(self.unknown_gains, kind)
        return np.zeros(0) if found is None else np.asarray(found)

    @property
    def gain_names(self) -> list[str]:
        """Name of each unknown gain, such as kp1."""
        return [f"{kind}{j + 1}" for kind, j in self.gains]

    @property
    def offset_names(self) -> list[str]:
        """Name of each unknown zero and bias, such as zero1."""
        return [f"{kind}{j + 1}" for kind, j in self.offsets]

    @property
    def names(self) -> list[str]:
        """(e,) of z."""
        return [*self.gain_names, *(["delay"] if self.has_delay else []), *self.offset_names]

    @property
    def count(self) -> int:
        """Length of z, e."""
        return len(self.names)

    @property
    def spread(self) -> Array:
        """(e,) prior standard deviation of z about zero."""
        return self._each(GAIN_SPREAD, DELAY_SPREAD, OFFSET_SPREAD)

    @property
    def longest_step(self) -> Array:
        """(e,) largest change of z in one step."""
        return self._each(GAIN_STEP, DELAY_STEP, OFFSET_STEP)

    def _each(self, gain: float, delay: float, offset: float) -> Array:
        """(e,) one number for each kind of unknown."""
        counts = len(self.gains), int(self.has_delay), len(self.offsets)
        return np.repeat([gain, delay, offset], counts)

    def gain_values(self, z: Array) -> Array:
        """The unknown gains at z, in their own units."""
        start = np.array([self._start(kind)[j] for kind, j in self.gains])
        return start * np.exp(z[: len(self.gains)])

    def column_factors(self, z: Array) -> Array:
        """(e,) d gain / d z: sensitivities to gains, times these, are sensitivities to z."""
        return np.concatenate([self.gain_values(z), np.ones(self.count - len(self.gains))])

    def delay(self, z: Array) -> float:
        """The delay of the reference at z, s."""
        return float(z[len(self.gains)]) if self.has_delay else 0.0

    def offset(self, kind: str, z: Array, n: int) -> Array:
        """(n,) zeros or biases at z, rad or m."""
        found, first = np.zeros(n), len(self.gains) + self.has_delay
        for k, (each, j) in enumerate(self.offsets):
            if each == kind:
                found[j] = z[first + k]
        return found

    def output_columns(self, J: Array, outputs: Sequence[str], n: int) -> Array:
        """(K, groups, m) sensitivities of simulated outputs, with zeros of the joints, as those of
        logged ones, with biases too: a log reads q - zero + bias.
        """
        if not self.offsets or "q" not in outputs:
            return J
        biases = [j for kind, j in self.offsets if kind == BIAS]
        J = np.concatenate([J, np.zeros((*J.shape[:2], len(biases)))], axis=2)
        first = n * list(outputs).index("q")
        for k, (kind, j) in enumerate(reversed(self.offsets), 1):
            J[:, first + j, -k] += 1.0 if kind == BIAS else -1.0
        return J

    def estimated(self, z: Array, covariance: Array) -> dict[str, tuple[float, float]]:
        """Gains and delay with their sigma, from the covariance of z."""
        sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * self.column_factors(z)
        values = [*self.gain_values(z), *z[len(self.gains) :]]
        trios = zip(self.names, values, sigma, strict=True)
        return {name: (float(value), float(s)) for name, value, s in trios}

    def at(self, z: Array, inertia: Array | None = None) -> Controller | None:
        """The loop with the gains at z, or retuned for the inertia J (n,) that it follows (59)."""
        controller, start = self.controller, self.unknown_gains
        if controller is None:
            return None
        if start is not None:
            found = {kind: self._start(kind).copy() for kind in (*GAINS, DRIVE_GAIN)}
            for (kind, j), value in zip(self.gains, self.gain_values(z), strict=True):
                found[kind][j] = value
            drive = found.pop(DRIVE_GAIN)
            if any(kind == DRIVE_GAIN for kind, _ in self.gains):
                controller = replace(controller, drive_gain=drive)
            return controller.with_gains(Gains(**found, ff=start.ff))
        if inertia is None:
            return controller
        if self.follows_inertia:
            return controller.retuned(inertia)
        poles_alone = controller.by_poles and controller.inertia is None
        return replace(controller, inertia=inertia) if poles_alone else controller

    def faster(self, factor: float) -> SimulatedLoop:
        """The same loop at a multiple of its bandwidth."""
        loop = self.controller
        return self if loop is None else replace(self, controller=loop.faster(factor))


def numeric_gains(model: TorqueModel, loop: Controller, inertia: Array) -> Gains:
    """The gains of a loop as numbers, for the inertia J (n,) where they are given by poles; a drive
    gain of zero counts as 1, gains of passive joints are zero.
    """
    g = np.diag(loop.drive(model))
    gains = loop.gains(model.robot.n, np.where(g != 0, g, 1.0), inertia)
    return gains.of_driven(model.robot.driven)


def unknown_offsets(names: Sequence[str], n: int) -> tuple[tuple[str, int], ...]:
    """Kind and joint of the zeros, then biases, of some names: "zero" for all joints, "bias2" for
    one.
    """
    every = [(kind, j) for kind in OFFSETS for j in range(n)]
    known = {name for kind, j in every for name in (kind, f"{kind}{j + 1}")}
    for name in names:
        if name not in known:
            raise InputError(
                f"estimate_offsets: there is no {name!r}; {nearest(name, sorted(known))}"
            )
    return tuple((kind, j) for kind, j in every if kind in names or f"{kind}{j + 1}" in names)


def drive_gains(model: TorqueModel, loop: Controller, which: EstimatedGains) -> Array | None:
    """(n,) drive gains, where some of them are unknown; refused where motors act on several
    joints.
    """
    if isinstance(which, bool) or not any(name.startswith(DRIVE_GAIN) for name in which):
        return None
    g = loop.drive(model)
    if np.count_nonzero(g) > np.count_nonzero(np.diagonal(g)):
        raise InputError(
            "estimate_gains: drive gains are unknown one by one; a drive_gain that couples joints "
            "must be known."
        )
    return np.diag(g).copy()


def gains_in_use(model: TorqueModel, loop: Controller, inertia: Array) -> dict[str, Array]:
    """The gains that a loop uses, each (n,); kinds that are zero at every joint are missing."""
    gains = numeric_gains(model, loop, inertia)
    return {kind: getattr(gains, kind) for kind in GAINS if np.any(getattr(gains, kind))}


def assumed_inertia(loop: Controller, inertia: Array) -> Array:
    """(n,) the inertia that the loop was tuned for, else the given one."""
    if loop.inertia is None:
        return inertia
    return np.broadcast_to(np.asarray(loop.inertia, dtype=float), inertia.shape)


def tuned_inertia(model: TorqueModel, loop: Controller | None, inertia: Array) -> Array:
    """(n,) the inertia that own gains were tuned for, kv g / (2 zeta omega_n), damping 1; the given
    one where the gains do not show it.
    """
    no_gain = loop is None or loop.by_poles or isinstance(loop, ComputedTorque | OwnLaw)
    if loop is None or no_gain or loop.velocity == "none":
        return inertia
    g = np.abs(np.diag(loop.drive(model)))
    gains = loop.gains(model.robot.n, np.where(g > 0, g, 1.0), inertia)
    kp = np.where(gains.kp > 0, gains.kp, 1.0)
    return np.where(g > 0, gains.kv * g / (4.0 * kp), inertia)


def friction_ratio(
    model: TorqueModel, parameters: Array, loop: Controller, inertia: Array
) -> float | None:
    """Largest Fv / (kv g) over the joints: friction against the loop's velocity gain; None for laws
    whose kv is no torque gain.
    """
    if isinstance(loop, ComputedTorque | OwnLaw) or loop.velocity == "none":
        return None
    values = model.values(parameters)
    viscous = np.diagonal(values.viscous) + np.maximum(
        values.viscous_positive, values.viscous_negative
    )
    g = np.diag(loop.drive(model))
    gains = numeric_gains(model, loop, assumed_inertia(loop, inertia))
    damping = np.abs(g * gains.kv)
    return float(np.max(np.abs(viscous)[damping > 0] / damping[damping > 0], initial=0.0))
