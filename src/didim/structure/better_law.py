"""Other laws of the loop, where one of them leaves less than any single suspect would."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.results.lack_of_fit import LEVEL, LackOfFit, Remedy
from didim.structure.columns import SimulatedFit
from didim.structure.other_laws import other_laws
from didim.structure.settings import setting_of
from didim.structure.tested import Tested
from didim.structure.trial import Trial, best_trial

Array = NDArray[np.float64]

FAR = 2.0
"""Times the noise beyond which other laws are tried."""

VERY_FAR = 10.0
"""Times the noise beyond which the parameters of the fit are no start for another law."""

NEARLY = 0.5
"""Part of the largest share that a suspect of the law must have for other laws to be tried."""

_OF_THE_LAW = (Remedy.GAIN, Remedy.VELOCITY_REFERENCE, Remedy.INTEGRAL, Remedy.FEEDFORWARD)
"""Suspects whose column changes with their value, so that a trial tells more than one step."""


def concerns_law(lack: LackOfFit, over_noise: float) -> bool:
    """Whether other laws are tried: one is named, or would remove nearly as much of a residual that
    is far above the noise.
    """
    best = max(row.share for row in lack.rows)
    raised = [row for row in lack.rows if row.p_value < LEVEL and row.remedy in _OF_THE_LAW]
    near = over_noise > FAR and any(row.share > NEARLY * best for row in raised)
    return near or lack.found[0].remedy in _OF_THE_LAW


def with_other_laws(
    fit: SimulatedFit, tested: Tested, lack: LackOfFit, deviations: Array, over_noise: Array
) -> LackOfFit:
    """The table with the law that leaves least first, where it leaves less than the suspect that is
    named would. `deviations` and `over_noise` (n,) are the rms errors of the fit, and these over
    the noise.
    """
    loop, law = fit.controller, tested.law
    assert law is not None
    by_name = {each.name: each for each in tested.suspects if each.directions}
    gains = [by_name[row.name] for row in lack.rows if row.name in by_name]
    counts = np.bincount(tested.system.joint, minlength=tested.system.n)
    enough = float(np.sum(counts * np.minimum(VERY_FAR / over_noise, 1.0) ** 2))
    trial = best_trial(fit, other_laws(loop, law, gains), deviations, enough)
    promised = (1.0 - lack.found[0].share) * float(counts.sum())
    if trial is None or trial.squares >= promised:
        return lack
    return _renamed(fit, tested, lack, trial, float(counts.sum()))


def _renamed(
    fit: SimulatedFit, tested: Tested, lack: LackOfFit, trial: Trial, before: float
) -> LackOfFit:
    """The table with the suspect of a trial first, and alone."""
    place = {each.name: each for each in tested.suspects}
    name = trial.law.suspect
    if name not in place:  # one joint: the suspect of all joints is that of the joint
        name = f"{name}1"
    value, suspect = trial.law.value(trial.theta), place[name]
    old = next((row for row in lack.rows if row.name == name), lack.found[0])
    share = 1.0 - trial.squares / before
    first = replace(
        old,
        name=name,
        group=suspect.group,
        joint=suspect.joint,
        unit=suspect.unit,
        value=value,
        sigma=old.sigma * np.sqrt(trial.squares / before),
        share=share,
        p_value=min(old.p_value, lack.found[0].p_value),
        remedy=suspect.remedy,
        setting=setting_of(suspect, value, tested.law, tested.joints),
        found=True,
        alternatives=old.alternatives,
        effect="",
        shapes={},
    )
    others = [replace(row, found=False) for row in lack.rows if row.name != name]
    moved = np.abs(trial.fit.parameters - fit.parameters)
    shifts = {
        name: max(lack.shifts[name], float(change))
        for name, change in zip(fit.model.parameter_names, moved, strict=True)
    }
    return replace(lack, rows=(first, *others), shifts=shifts)
