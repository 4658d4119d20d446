"""A fit with another law, where the right one is too far away for a test at zero to judge it:
integral action, a velocity reference, feedforward, other gains.

The parameters follow the rule of the regressor (48); the one unknown of the law, theta, has a
column of finite differences beside W.
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
from didim.regression.least_squares import least_squares
from didim.regression.system import LinearSystem, observe, stack
from didim.signals.experiment import measured_torque
from didim.structure.columns import SimulatedFit
from didim.structure.suspect import Suspect

Array = NDArray[np.float64]

FIRST_STEPS, STEPS = 2, 6
"""Of every trial, and of the best one."""
HALVINGS = 4
SMALL_FALL = 1e-2
"""Relative fall of the squared error that ends a trial."""
LONGEST_STEP = 0.5
"""Largest change of theta in one step, over itself."""
DIFFERENCE = 0.01
"""Relative change of theta for its column."""
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


@dataclass(frozen=True, eq=False)
class Trial:
    """Where a trial is."""

    law: OtherLaw
    fit: SimulatedFit
    theta: float
    squares: float
    """Sum of the squared errors, each joint's over its scale."""
    settled: bool = False


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


def best_trial(fit: SimulatedFit, laws: Sequence[OtherLaw], scale: Array) -> Trial | None:
    """The law that leaves least; `scale` (n,) divides the errors of each joint."""
    started = [_started(fit, law, scale) for law in laws]
    trials = [_advanced(each, scale, FIRST_STEPS) for each in started if each is not None]
    if not trials:
        return None
    return _advanced(min(trials, key=lambda each: each.squares), scale, STEPS - FIRST_STEPS)


def _started(fit: SimulatedFit, law: OtherLaw, scale: Array) -> Trial | None:
    trial = _moved(fit, law, fit.parameters, law.start, scale)
    return trial if np.isfinite(trial.squares) else None


def _moved(fit: SimulatedFit, law: OtherLaw, chi: Array, theta: float, scale: Array) -> Trial:
    """The trial at chi (b,) and theta."""
    loop = law.controller(theta, fit.model, chi)
    at = replace(fit, parameters=chi, controller=loop, simulated=())
    errors = at.errors()
    return Trial(law, at, theta, float(np.sum((errors / scale) ** 2)))


def _advanced(trial: Trial, scale: Array, steps: int) -> Trial:
    """Some steps further."""
    for _ in range(steps):
        if trial.settled:
            break
        trial = _stepped(trial, scale)
    return trial


def _stepped(trial: Trial, scale: Array) -> Trial:
    """One step of (48) with the column of theta, halved until it lowers the error."""
    fit, law, theta = trial.fit, trial.law, trial.theta
    system = _equations(trial)
    if system is None:
        return replace(trial, settled=True)
    found = least_squares(system, (1.0 / scale)[system.joint]).values
    b = fit.parameters.size
    limit = LONGEST_STEP * abs(theta)
    step, change = found[:b] - fit.parameters, float(np.clip(np.sum(found[b:]), -limit, limit))
    for halving in range(HALVINGS):
        part = 0.5**halving
        moved = _moved(fit, law, fit.parameters + part * step, theta + part * change, scale)
        if moved.squares < trial.squares:
            small = moved.squares > (1 - SMALL_FALL) * trial.squares
            return replace(moved, settled=small)
    return replace(trial, settled=True)


def _equations(trial: Trial) -> LinearSystem | None:
    """Y = W chi + z d(theta): the regressor of the simulated states, and the column of theta where
    the law has one.
    """
    fit, law, theta = trial.fit, trial.law, trial.theta
    motions = fit.motions()
    if motions is None:
        return None
    changed = None
    if theta:
        other = theta * (1.0 + DIFFERENCE)
        changed = replace(
            fit, controller=law.controller(other, fit.model, fit.parameters)
        ).motions()
        if changed is None:
            return None
    systems, selection = [], fit.records.selection
    for k, motion in enumerate(motions):
        states, tau = motion.states, measured_torque(fit.records.records[k])
        samples = fit.window.samples[k]
        system = observe(fit.model, states, tau, selection, samples, k)
        if changed is not None:
            slope = (changed[k].tau - motion.tau) / (DIFFERENCE * theta)
            reduced = selection.columns(samples, slope)
            column = reduced[system.index, system.joint]
            further = None if system.affine is None else system.affine.with_further(1)
            system = replace(
                system,
                W=np.column_stack([system.W, column]),
                names=(*system.names, "theta"),
                affine=further,
            )
        systems.append(system)
    return stack(systems)
