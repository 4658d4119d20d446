"""The laws by name: PD (53), PID, the P-PI cascade, computed torque and a user's own, all cases of
the one compiled law.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.kernels.law import USER
from didim.control.law import Controller, Gains
from didim.control.settings import refuse_unless
from didim.control.user import UserLaw
from didim.errors import InputError
from didim.validation import per_joint, whole

Array = NDArray[np.float64]

MAX_MEMORY_NUMBERS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PD(Controller):
    """v = kv (kp e + ff dq_r - dq), eq. 53.

    Implements (55).
    """

    @classmethod
    def parallel(cls, Kp: ArrayLike, Kd: ArrayLike, **more: object) -> Self:
        """The law Kp e + Kd de: kp = Kp / Kd, kv = Kd, with velocity reference."""
        for name, value in (("Kp", Kp), ("Kd", Kd)):
            refuse_unless(value, f"PD.parallel: {name}", "positive", lambda x: x > 0)
        for name in ("kp", "kv", "natural_frequency"):
            if name in more:
                raise InputError(f"PD.parallel is given by Kp and Kd; leave {name} out.")
        try:
            ratio = np.asarray(np.asarray(Kp, dtype=float) / np.asarray(Kd, dtype=float)).tolist()
        except ValueError:
            raise InputError(
                "PD.parallel: Kp and Kd must have as many numbers as there are joints."
            ) from None
        settings: dict[str, Any] = {"kp": ratio, "kv": Kd, "velocity_reference": 1.0, **more}
        return cls(**settings)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PID(Controller):
    """v = kv (kp e + ff dq_r - dq) + ki int(e)."""

    ki: ArrayLike | None = None
    """The controller's own integral gain, v per rad s or m s."""
    integral_time: ArrayLike | None = None
    """By poles: ki = kp kv / integral_time, s; None: 10 / omega_n."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_integral(self.by_poles, self.ki, "ki", self.integral_time, "PID")

    def _integral_gains(self, n: int, kp: Array, kv: Array) -> tuple[Array, Array]:
        if not self.by_poles:
            return per_joint(np.asarray(self.ki), "ki", n), np.zeros(n)
        return kp * kv / _integral_time(self, n), np.zeros(n)

    def retuned(self, inertia: ArrayLike) -> Self:
        """As `Controller.retuned`; ki is a torque gain too and is scaled along."""
        tuned = super().retuned(inertia)
        return (
            tuned
            if self.by_poles
            else replace(tuned, ki=np.asarray(self.ki) * np.asarray(tuned.kv) / np.asarray(self.kv))
        )

    def with_gains(self, gains: Gains) -> Self:
        """As `Controller.with_gains`, with ki."""
        own: dict[str, Any] = {name: getattr(gains, name) for name in ("kp", "kv", "ki")}
        return replace(
            self, natural_frequency=None, damping=1.0, inertia=None, integral_time=None, **own
        )

    def faster(self, factor: float) -> Self:
        """As `Controller.faster`; the integral time shrinks by the factor."""
        return _with_integral(self, super().faster(factor), "ki", factor, 3)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Cascade(Controller):
    """The industrial P-PI cascade: s = kp e + ff dq_r - dq, v = kv s + kiv int(s)."""

    kiv: ArrayLike | None = None
    """The controller's own integral gain of the velocity loop, v per rad or m."""
    integral_time: ArrayLike | None = None
    """By poles: kiv = kv / integral_time, s; None: 10 / omega_n."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_integral(self.by_poles, self.kiv, "kiv", self.integral_time, "Cascade")

    def _integral_gains(self, n: int, kp: Array, kv: Array) -> tuple[Array, Array]:
        del kp
        if not self.by_poles:
            return np.zeros(n), per_joint(np.asarray(self.kiv), "kiv", n)
        return np.zeros(n), kv / _integral_time(self, n)

    def retuned(self, inertia: ArrayLike) -> Self:
        """As `Controller.retuned`; only the velocity loop, kv and kiv, is scaled."""
        tuned = super().retuned(inertia)
        return (
            tuned
            if self.by_poles
            else replace(
                tuned, kiv=np.asarray(self.kiv) * np.asarray(tuned.kv) / np.asarray(self.kv)
            )
        )

    def with_gains(self, gains: Gains) -> Self:
        """As `Controller.with_gains`, with kiv."""
        own: dict[str, Any] = {name: getattr(gains, name) for name in ("kp", "kv", "kiv")}
        return replace(
            self, natural_frequency=None, damping=1.0, inertia=None, integral_time=None, **own
        )

    def faster(self, factor: float) -> Self:
        """As `Controller.faster`; the integral time shrinks by the factor."""
        return _with_integral(self, super().faster(factor), "kiv", factor, 2)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ComputedTorque(Controller):
    """tau = M(q) (ddq_r + kv s) + N(q, dq) with the controller's own model; kv is in 1/s and knows
    no inertia.
    """

    velocity_reference: ArrayLike = 1.0
    model_term: str = "computed_torque"

    def gains(self, n: int, g: Array, inertia: Array) -> Gains:
        """The gains act on accelerations: as (58) with J = g = 1."""
        del g, inertia
        return super().gains(n, np.ones(n), np.ones(n))

    def retuned(self, inertia: ArrayLike) -> Self:
        """The model inside stays the controller's own: nothing to scale."""
        del inertia
        return self


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OwnLaw(Controller):
    """A law of the user's own, compiled by `didim.control_law`; saturation, delay, encoder and rate
    apply to it too.
    """

    law: UserLaw
    memory: int = 0
    """How many numbers the law keeps from one sample to the next."""

    def __post_init__(self) -> None:
        if not isinstance(self.law, UserLaw):
            raise InputError(
                f"OwnLaw: law must come from didim.control_law, found {type(self.law).__name__}."
            )
        object.__setattr__(self, "memory", whole(self.memory, "OwnLaw: memory", least=0))
        if self.memory > MAX_MEMORY_NUMBERS:
            raise InputError(
                f"OwnLaw: a memory of {self.memory} numbers is beyond the limit of "
                f"{MAX_MEMORY_NUMBERS}."
            )
        if self.model is not None or self.model_term != "none":
            raise InputError("OwnLaw has no model of its own: write what it adds into the law.")
        if self.memory and self.rate is None:
            raise InputError("OwnLaw: only a sampled law has a memory; give rate.")
        super().__post_init__()

    def _check_gains(self, where: str) -> None:
        if self.kp is not None or self.kv is not None or self.natural_frequency is not None:
            raise InputError(f"{where} has no gains of its own: write them into the law.")

    def gains(self, n: int, g: Array, inertia: Array) -> Gains:
        """None: all zero."""
        del g, inertia
        return Gains(*(np.zeros(n) for _ in range(5)))

    def _kind(self) -> int:
        return USER

    def _address(self) -> int:
        return self.law.address

    def _memory(self) -> int:
        return self.memory

    def retuned(self, inertia: ArrayLike) -> Self:
        """A user's law knows no inertia."""
        del inertia
        return self

    def faster(self, factor: float) -> Self:
        """A user's law keeps its gains to itself."""
        raise InputError(
            f"OwnLaw: the gains of {self.law.name!r} are written into it; no bandwidth factor "
            f"({factor:g}) can be applied."
        )


def _with_integral(law: Any, faster: Any, gain: str, factor: float, power: int) -> Any:
    """The faster law with its integral action as much faster: a time over the factor, a gain times
    its power.
    """
    if not law.by_poles:
        return replace(faster, **{gain: np.asarray(getattr(law, gain)) * factor**power})
    return (
        faster
        if law.integral_time is None
        else replace(faster, integral_time=np.asarray(law.integral_time) / factor)
    )


def _check_integral(
    by_poles: bool, gain: ArrayLike | None, name: str, time: ArrayLike | None, where: str
) -> None:
    if by_poles and gain is not None:
        raise InputError(f"{where}: by poles, give integral_time instead of {name}.")
    if not by_poles and gain is None:
        raise InputError(f"{where} by its own gains needs {name}.")
    if not by_poles and time is not None:
        raise InputError(
            f"{where}: integral_time belongs to tuning by poles; own gains have {name}."
        )
    refuse_unless(gain, f"{where}: {name}", "not negative", lambda x: x >= 0)
    refuse_unless(time, f"{where}: integral_time", "positive", lambda x: x > 0)


def _integral_time(law: PID | Cascade, n: int) -> Array:
    if law.integral_time is not None:
        return per_joint(law.integral_time, "integral_time", n)
    return 10.0 / per_joint(np.asarray(law.natural_frequency), "natural_frequency", n)
