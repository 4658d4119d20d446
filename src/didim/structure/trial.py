"""A fit with another law, where the right one is too far away for a test at zero to judge it:
integral action, a velocity reference, feedforward, other gains.

The parameters follow the rule of the regressor (48); the one unknown of the law, theta, has a
column of finite differences beside W.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.control.loop_prior import loop_prior
from didim.regression.least_squares import least_squares
from didim.regression.system import LinearSystem, observe, stack
from didim.results.start import start_of
from didim.signals.experiment import measured_torque
from didim.structure.columns import SimulatedFit
from didim.structure.other_laws import OtherLaw
from didim.threads import on_threads

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


@dataclass(frozen=True, eq=False)
class Trial:
    """Where a trial is."""

    law: OtherLaw
    fit: SimulatedFit
    theta: float
    squares: float
    """Sum of the squared errors, each joint's over its scale."""
    settled: bool = False


def best_trial(
    fit: SimulatedFit, laws: Sequence[OtherLaw], scale: Array, enough: float
) -> Trial | None:
    """The law that leaves least; `scale` (n,) divides the errors of each joint.

    All laws start from the parameters of the fit. Those of a fit in a wrong loop may be such that
    the right one is unstable: while the best law leaves more than `enough`, all start again, from
    the prior, then from the regular initialisation (63).
    """
    trials = _trials(fit, laws, scale, FIRST_STEPS)
    best = min(trials, key=_squares, default=None)
    best = best and _advanced(best, scale, STEPS - FIRST_STEPS)
    for start in _other_starts(fit):
        if best is not None and best.squares <= enough:
            break
        again = _trials(start, laws, scale, STEPS)
        best = min([*again, *([best] if best else [])], key=_squares, default=None)
    return best


def _squares(trial: Trial) -> float:
    return trial.squares


def _other_starts(fit: SimulatedFit) -> Iterator[SimulatedFit]:
    """The fit with parameters that owe nothing to its loop."""
    model = fit.model
    prior = loop_prior(model, fit.controller, fit.records.sizes).prior
    yield replace(fit, parameters=model.matrix @ prior)
    yield replace(fit, parameters=start_of(model, "unit").base)


def _trials(fit: SimulatedFit, laws: Sequence[OtherLaw], scale: Array, steps: int) -> list[Trial]:
    """Each law that can be simulated with the parameters of a fit, some steps from there; laws on
    as many threads as there are processors.
    """

    def trial(law: OtherLaw) -> Trial | None:
        started = _started(fit, law, scale)
        return None if started is None else _advanced(started, scale, steps)

    return [each for each in on_threads(trial, laws) if each is not None]


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
