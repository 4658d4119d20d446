"""Laws that are tried in place of the assumed one, each with one unknown theta: integral action, a
velocity reference, feedforward, other gains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import GAINS_ONLY, Law
from didim.control.law import Controller, Gains
from didim.control.laws import PD, PID, Cascade
from didim.dynamics.model import BaseModel
from didim.structure.suspect import Suspect

Array = NDArray[np.float64]

INTEGRAL_TIME = 10.0
"""Times 1 / (2 kp): what an integral time starts from."""
RIVALS = 3
"""Gains that are tried beside the laws: those that the score tests like best."""


@dataclass(frozen=True, eq=False)
class OtherLaw:
    """A law with one unknown."""

    suspect: str
    """Name of the suspect that it adds."""
    controller: Callable[[float, BaseModel, Array], Controller]
    """The loop, from theta, the model and its parameters."""
    start: float
    """theta at first."""
    value: Callable[[float], float]
    """What the suspect's value is at theta."""


def other_laws(loop: Controller, law: Law, gains: Sequence[Suspect]) -> list[OtherLaw]:
    """The laws that are tried: of a PD with integral action, with or without the velocity of the
    reference, with feedforward; and with other values of some gains.
    """
    found = [_with_gains(loop, law, each.name, each.directions) for each in gains[:RIVALS]]
    if law.kind != GAINS_ONLY:
        return found
    own = Gains(law.kp, law.kv, law.ki, law.kiv, law.ff)
    if not law.ki.any() and not law.kiv.any():
        fast = 2.0 * float(np.median(law.kp)) / INTEGRAL_TIME
        found += [
            OtherLaw("ki", _law(loop, own, "ki", law.kp * law.kv), fast, float),
            OtherLaw("kiv", _law(loop, own, "kiv", law.kv), fast, float),
        ]
    if np.unique(law.ff).size == 1 and law.ff[0] in (0.0, 1.0):
        other, was = 1.0 - float(law.ff[0]), float(law.ff[0])
        ones = np.ones(law.kp.size)
        start = other or 0.1
        found.append(OtherLaw("ff", _law(loop, own, "ff", ones), start, lambda theta: theta - was))
    follow = with_gains(loop, own)
    found.append(OtherLaw("feedforward", _following(follow), 0.0, _one))
    return found


def _following(follow: Controller) -> Callable[[float, BaseModel, Array], Controller]:
    """The loop with the torque of the model along the reference."""

    def controller(theta: float, model: BaseModel, chi: Array) -> Controller:
        del theta
        return replace(follow, model=model, parameters=chi, model_term="feedforward")

    return controller


def _one(theta: float) -> float:
    """The value of a law that has no unknown."""
    del theta
    return 1.0


def _law(loop: Controller, own: Gains, kind: str, unit: Array) -> Callable[..., Controller]:
    """The loop with theta times `unit` (n,) for one kind of gain."""

    def controller(theta: float, model: BaseModel, chi: Array) -> Controller:
        del model, chi
        return with_gains(loop, replace(own, **{kind: theta * unit}))

    return controller


def _with_gains(loop: Controller, law: Law, name: str, directions: Mapping[str, float]) -> OtherLaw:
    """The loop with some gains times theta."""
    kind = name.rstrip("0123456789")
    joints = [int(each[len(kind) :]) - 1 for each in directions]

    def controller(theta: float, model: BaseModel, chi: Array) -> Controller:
        del model, chi
        own = Gains(law.kp, law.kv, law.ki, law.kiv, law.ff)
        scaled = getattr(own, kind).copy()
        scaled[joints] *= theta
        return with_gains(loop, replace(own, **{kind: scaled}))

    return OtherLaw(name, controller, 1.0, lambda theta: 100.0 * (theta - 1.0))


def with_gains(loop: Controller, gains: Gains) -> Controller:
    """The loop with these gains: a PD, a PID or a cascade, as they need it."""
    kept = (
        "drive_gain", "rate", "saturation", "delay", "velocity", "encoder", "model", "parameters",
        "model_term",
    )  # fmt: skip
    settings = {name: getattr(loop, name) for name in kept}
    settings |= {"kp": gains.kp, "kv": gains.kv, "velocity_reference": gains.ff}
    if gains.kiv.any():
        return Cascade(kiv=gains.kiv, **settings)
    return PID(ki=gains.ki, **settings) if gains.ki.any() else PD(**settings)
