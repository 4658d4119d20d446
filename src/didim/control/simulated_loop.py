"""The control loop of the simulations: gains that follow the inertia (59), are given, or unknown.

Unknown gains are estimated as logarithms of factors on those of the assumed loop; a delay of the
reference may be unknown too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller, Gains
from didim.control.laws import ComputedTorque, OwnLaw
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, nearest

Array = NDArray[np.float64]

GAINS = ("kp", "kv", "ki", "kiv")
"""Of the one law, in the order in which kernels number them."""

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


@dataclass(frozen=True, eq=False)
class SimulatedLoop:
    """The loop as a function of z (e,), the logarithms of its gain factors and the delay (s), and
    of the inertia J (n,) that its gains follow.
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
            return self._nonzero
        chosen = self.which
        return [(k, j) for k, j in self._nonzero if k in chosen or f"{k}{j + 1}" in chosen]

    @property
    def _nonzero(self) -> list[tuple[str, int]]:
        """Kind and joint of each gain that may be unknown: those that are not zero."""
        start = self.unknown_gains
        if start is None:
            return []
        return [(kind, int(j)) for kind in GAINS for j in np.flatnonzero(getattr(start, kind))]

    @property
    def gain_names(self) -> list[str]:
        """Name of each unknown gain, such as kp1."""
        return [f"{kind}{j + 1}" for kind, j in self.gains]

    @property
    def count(self) -> int:
        """Length of z, e."""
        return len(self.gains) + self.has_delay

    @property
    def spread(self) -> Array:
        """(e,) prior standard deviation of z about zero."""
        return np.array([GAIN_SPREAD] * len(self.gains) + [DELAY_SPREAD] * self.has_delay)

    @property
    def longest_step(self) -> Array:
        """(e,) largest change of z in one step."""
        return np.array([GAIN_STEP] * len(self.gains) + [DELAY_STEP] * self.has_delay)

    def gain_values(self, z: Array) -> Array:
        """The unknown gains at z, in their own units."""
        start = np.array([getattr(self.unknown_gains, kind)[j] for kind, j in self.gains])
        return start * np.exp(z[: len(self.gains)])

    def column_factors(self, z: Array) -> Array:
        """(e,) d gain / d z: sensitivities to gains, times these, are sensitivities to z."""
        return np.concatenate([self.gain_values(z), np.ones(int(self.has_delay))])

    def delay(self, z: Array) -> float:
        """The delay of the reference at z, s."""
        return float(z[-1]) if self.has_delay else 0.0

    def estimated(self, z: Array, covariance: Array) -> dict[str, tuple[float, float]]:
        """Gains and delay with their sigma, from the covariance of z."""
        sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        pairs = zip(self.gain_names, self.gain_values(z), sigma, strict=False)
        found = {name: (float(value), float(value * s)) for name, value, s in pairs}
        if self.has_delay:
            found["delay"] = (self.delay(z), float(sigma[-1]))
        return found

    def at(self, z: Array, inertia: Array | None = None) -> Controller | None:
        """The loop with the gains at z, or retuned for the inertia J (n,) that it follows (59)."""
        controller, start = self.controller, self.unknown_gains
        if controller is None:
            return None
        if start is not None:
            found = {kind: getattr(start, kind).copy() for kind in GAINS}
            for (kind, j), value in zip(self.gains, self.gain_values(z), strict=True):
                found[kind][j] = value
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
    gain of zero counts as 1.
    """
    g = np.diag(loop.drive(model))
    return loop.gains(model.robot.n, np.where(g != 0, g, 1.0), inertia)


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
    if loop is None or loop.by_poles or isinstance(loop, ComputedTorque | OwnLaw):
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
    if isinstance(loop, ComputedTorque | OwnLaw):
        return None
    values = model.values(parameters)
    viscous = np.diagonal(values.viscous) + np.maximum(
        values.viscous_positive, values.viscous_negative
    )
    g = np.diag(loop.drive(model))
    gains = numeric_gains(model, loop, assumed_inertia(loop, inertia))
    damping = np.abs(g * gains.kv)
    return float(np.max(np.abs(viscous)[damping > 0] / damping[damping > 0], initial=0.0))
