"""`Servo`: the position servo of a hobby or Dynamixel drive, proportional on its encoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller, Gains
from didim.control.settings import refuse_unless
from didim.errors import InputError
from didim.validation import per_joint

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Servo(Controller):
    """v = kp kp_unit (q_r - q), limited to +-1: the duty cycle of the motor's voltage.

    The motor gives tau = kt/R (V v - kt dq) = g v - Kb dq: `drive_gain` is g = kt V/R, the effect
    `back_emf` has Kb = kt^2/R, so that kt = V Kb/g and R = V kt/g.
    """

    saturation: ArrayLike = 1.0
    velocity: str = "none"
    kp_unit: ArrayLike = 1.0
    """Duty per rad or m that one unit of kp, as the firmware counts it, gives."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_unless(self.kp_unit, "Servo: kp_unit", "positive", lambda x: x > 0)
        if self.velocity != "none":
            raise InputError("Servo has no velocity term; use PD, whose velocity can be chosen.")
        if self.rate is None:
            raise InputError("Servo is sampled; give rate, samples per second of its firmware.")

    def _check_gains(self, where: str) -> None:
        if self.kp is None or self.kv is not None or self.natural_frequency is not None:
            raise InputError(f"{where} has one gain, kp; give kp, and no kv or natural_frequency.")

    @property
    def unknown_kinds(self) -> tuple[str, ...]:
        """kp alone."""
        return ("kp",)

    def gains(self, n: int, g: Array, inertia: Array) -> Gains:
        """As the one law has them: kv is the unit of kp."""
        del g, inertia
        kp, unit = per_joint(np.asarray(self.kp), "kp", n), per_joint(self.kp_unit, "kp_unit", n)
        return Gains(kp, unit, *(np.zeros(n) for _ in range(3)))

    def with_gains(self, gains: Gains) -> Self:
        """As `Controller.with_gains`, with kp alone."""
        return replace(self, kp=gains.kp)

    def retuned(self, inertia: ArrayLike) -> Self:
        """A servo knows no inertia: nothing to scale."""
        del inertia
        return self

    def faster(self, factor: float) -> Self:
        """Its bandwidth times `factor`: omega_n^2 = kp g / J."""
        return replace(self, kp=np.asarray(self.kp) * factor**2)
