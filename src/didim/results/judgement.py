"""Whether a model may be used, and for what: the answer that a report begins with.

Four uses are judged one by one, since a model can be good for one and bad for another. Everything is computed from the estimate
itself, so that a saved one is judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from didim.control.tuning import joint_ranges, largest_inertias
from didim.results.words import joint_label, share

if TYPE_CHECKING:
    from didim.results.estimate import Estimate
    from didim.results.prediction import Validation

Array = NDArray[np.float64]

GOOD = 0.10
"""Share of all torque that a good model may leave unexplained, noise included."""

SUSPECT = 0.25
"""Share of the torque beyond which something is wrong, of all joints or of one."""

WORSE = 2.5
"""Times the residual of the fit beyond which the prediction of another record is doubted."""

INSIGNIFICANT = 30.0
"""Relative sigma, percent, beyond which a parameter is not significant (section VI.A)."""

ILL_CONDITIONED = 1000.0
"""Scaled condition number beyond which parameters are hard to tell apart."""

NEGLIGIBLE = 1e-3
"""Residual that needs no explanation."""

_POSES = 512
"""Poses in which the inertia matrix is tried."""

_NAMED = 8
"""Parameters that a sentence lists at most."""

_SENTENCES = {"yes": "This model may be used.", "care": "This model may be used with care.", "no": "Do not use this model."}


@dataclass(frozen=True)
class Use:
    """One thing that a model may be wanted for."""

    name: str
    level: str
    """"yes", "care" or "no"."""
    why: str


@dataclass(frozen=True)
class Judgement:
    """What a model may be used for."""

    recorded: Use
    """Torque of motions like the recorded ones."""
    other: Use
    """Torque of other motions."""
    simulation: Use
    """Simulation and model-based control."""
    values: Use
    """Single parameters."""

    @property
    def uses(self) -> tuple[Use, ...]:
        """All four."""
        return self.recorded, self.other, self.simulation, self.values

    @property
    def level(self) -> str:
        """Of the whole model: "no" where even recorded motions are not explained, "yes" where all but single values hold."""
        levels = {each.level for each in self.uses[:3]}
        return "no" if self.recorded.level == "no" else ("yes" if levels == {"yes"} else "care")

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        return _SENTENCES[self.level]


def judge(estimate: Estimate) -> Judgement:
    """What the model of an estimate may be used for."""
    recorded = Use("torque of motions like the recorded ones", *_recorded(estimate))
    uses = ("torque of other motions", _other), ("simulation and model-based control", _simulation), ("single values", _values)
    if recorded.level == "no":
        return Judgement(recorded, *(Use(name, "no", "see the first line") for name, _ in uses))
    return Judgement(recorded, *(Use(name, *judged(estimate)) for name, judged in uses))


def _recorded(estimate: Estimate) -> tuple[str, str]:
    if estimate.status != "converged":
        return "no", f"the status is {estimate.status!r}"
    if not np.all(np.isfinite(estimate.parameters)) or not np.isfinite(estimate.residual):
        return "no", "there are no finite values"
    J = largest_inertias(estimate.model, estimate.parameters)
    if np.any(J <= 0):
        return "no", f"the inertia of {joint_label(estimate.model, int(J.argmin()))} is not positive, which no machine has"
    if estimate.output == "position":
        return "care", f"fitted to positions, of which {share(estimate.residual)} is left; torques were not compared"
    return _explained(estimate, estimate.residual, estimate.residual_by_joint, "the fit leaves {} of the recorded torque")


def _explained(estimate: Estimate, total: float, by_joint: Array, sentence: str) -> tuple[str, str]:
    """Judge what is left of a torque, in all and of the worst joint."""
    if not (np.isfinite(total) and np.all(np.isfinite(by_joint))):
        return "no", "what is left of the torque is not known"
    j = int(np.argmax(by_joint))
    told = f"{share(by_joint[j])} of {joint_label(estimate.model, j)}"
    many = by_joint.size > 1
    why = sentence.format(share(total)) + (f", at most {told}" if many else "")
    if total > SUSPECT:
        return "no", f"{why}: too much"
    if total > GOOD or by_joint[j] > SUSPECT:
        return "care", f"{why}: more than a good model leaves"
    return "yes", why


def _other(estimate: Estimate) -> tuple[str, str]:
    if not estimate.validation:
        return "care", "not tried: no record was held out of the fit"
    worst = max(estimate.validation, key=lambda each: each.residual if not each.message else np.inf)
    if worst.message:
        return "no", f"record {worst.experiment!r} cannot be predicted"
    left = f"of the torque of a record that the fit did not see ({worst.experiment or 'unnamed'}), {{}} is left"
    level, why = _explained(estimate, worst.residual, worst.residual_by_joint, left)
    if level == "yes" and (ratio := worsening(estimate, worst)) > WORSE and worst.residual > GOOD / WORSE:
        return "care", f"{why}: {ratio:.2g} times the fit"
    return level, why


def worsening(estimate: Estimate, tried: Validation) -> float:
    """How many times worse than the fit another record is predicted; 1 where the fit says nothing of torques."""
    if estimate.output == "position" or tried.message:
        return 1.0
    return tried.residual / max(estimate.residual, NEGLIGIBLE)


def _simulation(estimate: Estimate) -> tuple[str, str]:
    lower, upper = joint_ranges(estimate.model)
    poses = lower + (upper - lower) * qmc.Halton(lower.size, scramble=False).random(_POSES)
    bad = int(np.sum(np.linalg.eigvalsh(estimate.model.inertia_matrix(poses, estimate.parameters))[:, 0] <= 0))
    if bad:
        return "no", f"the inertia matrix is not positive definite in {bad} of {_POSES} poses of the joint range"
    negative = negative_friction(estimate)
    if negative:
        return "care", f"negative friction would drive the joints: {_listed(negative)}"
    return "yes", "inertia matrix positive definite over the joint range, no friction clearly negative"


def negative_friction(estimate: Estimate) -> list[str]:
    """Friction parameters that lie more than three corrected sigma below zero."""
    frictional = {
        name for name, is_friction in zip(estimate.model.parameter_names, estimate.model.frictional, strict=True) if is_friction
    }
    return [
        name
        for name, value, sigma in zip(estimate.names, estimate.values, estimate.corrected_sigma, strict=True)
        if name in frictional and value < -3 * sigma
    ]


def weak_parameters(estimate: Estimate) -> list[str]:
    """Parameters that are not significant: relative sigma (19) above 30 %."""
    with np.errstate(invalid="ignore"):
        return [name for name, left in zip(estimate.names, estimate.relative_sigma, strict=True) if left > INSIGNIFICANT]


def assumed_loop(estimate: Estimate) -> bool:
    """Whether the simulated loop was a guess, as its study says."""
    study = estimate.provenance.get("study")
    table = study.get("controller") if isinstance(study, dict) else None
    return estimate.recipe.states == "simulated" and isinstance(table, dict) and bool(table.get("assumed"))


def _values(estimate: Estimate) -> tuple[str, str]:
    weak, count = weak_parameters(estimate), len(estimate.names)
    if weak and len(weak) == count:
        return "no", "no parameter is significant"
    doubts = [f"{len(weak)} of {count} not significant: {_listed(weak)}"] if weak else []
    if estimate.scaled_condition > ILL_CONDITIONED:
        doubts.append(f"W is ill-conditioned ({estimate.scaled_condition:.3g}), some are hardly told apart")
    if assumed_loop(estimate):
        doubts.append("the control loop was assumed")
    if doubts:
        return "care", "; ".join(doubts)
    return "yes", f"all {count} are significant (relative sigma below {INSIGNIFICANT:.0f} %)"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
