"""Whether a model may be used, and for what: the answer that a report begins with.

Four uses are judged one by one, since a model can be good for one and bad for another. Everything
is computed from the estimate itself, so that a saved one is judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from didim.control.tuning import joint_ranges, largest_inertias
from didim.results.formatting import fraction, joint_label, listed
from didim.results.status import Status

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

_INDEFINITE = "the inertia matrix is not positive definite in {} of {} poses of the joint range"

STRANGE = 100.0
"""Times the described inertia beyond which units are doubted."""

COLOURED = 1.5
"""Times wider that the colour of the residuals makes the intervals (median), beyond which errors of
the model show.
"""

_SENTENCES = {
    "yes": "This model may be used.",
    "care": "This model may be used with care.",
    "no": "Do not use this model.",
}
_RANK = {"yes": 0, "care": 1, "no": 2}


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
        """Of the whole model: "no" where a recorded torque is not explained, "yes" where all but
        single values hold.
        """
        if "no" in (self.recorded.level, self.other.level):
            return "no"
        return "yes" if {each.level for each in self.uses[:3]} == {"yes"} else "care"

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        return _SENTENCES[self.level]

    @property
    def reason(self) -> str:
        """What keeps it from a plain yes; empty where nothing does."""
        if self.level == "yes":
            return ""
        doubts = (
            [self.recorded]
            if self.recorded.level == "no"
            else [each for each in self.uses[:3] if each.level != "yes"]
        )
        return "; ".join(f"{each.name}: {each.why}" for each in doubts)


def judge(estimate: Estimate) -> Judgement:
    """What the model of an estimate may be used for."""
    recorded = Use("torque of motions like the recorded ones", *_recorded(estimate))
    uses = (
        ("torque of other motions", _other),
        ("simulation and model-based control", _simulation),
        ("single values", _values),
    )
    if recorded.level == "no":
        return Judgement(recorded, *(Use(name, "no", "see the first line") for name, _ in uses))
    return Judgement(recorded, *(Use(name, *judged(estimate)) for name, judged in uses))


def _recorded(estimate: Estimate) -> tuple[str, str]:
    if estimate.status is not Status.CONVERGED:
        return "no", f"the status is {estimate.status}"
    if not np.all(np.isfinite(estimate.parameters)) or not np.isfinite(estimate.residual):
        return "no", "there are no finite values"
    J = largest_inertias(estimate.model, estimate.parameters)
    if np.any(J <= 0):
        return (
            "no",
            f"the inertia of {joint_label(estimate.model, int(J.argmin()))} is not positive, which "
            "no machine has",
        )
    if (bad := _infeasible_poses(estimate)) > _POSES // 2:
        return "no", f"{_INDEFINITE.format(bad, _POSES)}, which no machine has"
    if estimate.output == "position":
        return (
            "care",
            f"fitted to positions, {fraction(estimate.residual)} unexplained; torques were not "
            "compared",
        )
    left = "after filtering, the fit leaves {} of the recorded torque"
    level, why = _explained(estimate, estimate.residual, estimate.residual_by_joint, left)
    if level == "yes" and (doubt := _strange(estimate, J)):
        return "care", f"{why}; {doubt}"
    return level, why


def _strange(estimate: Estimate, J: Array) -> str:
    """What is said where an inertia is far from the described one; empty where it is not, or
    nothing is described.
    """
    nominal = estimate.model.nominal
    if not np.all(np.isfinite(nominal)):
        return ""
    described = largest_inertias(estimate.model, nominal)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(described > 0, J / described, 1.0)
    j = int(np.argmax(np.abs(np.log(ratio))))
    if 1 / STRANGE < ratio[j] < STRANGE:
        return ""
    return (
        f"the inertia of {joint_label(estimate.model, j)} is {ratio[j]:.2g} times the described "
        "one: are units and gears right?"
    )


def _explained(estimate: Estimate, total: float, by_joint: Array, sentence: str) -> tuple[str, str]:
    """Judge what is left of a torque, in all and of the worst joint."""
    if not (np.isfinite(total) and np.all(np.isfinite(by_joint))):
        return "no", "what is left of the torque is not known"
    j = int(np.argmax(by_joint))
    worst = (
        f"; of the worst joint, {joint_label(estimate.model, j)}, {fraction(by_joint[j])}"
        if by_joint.size > 1
        else ""
    )
    why = sentence.format(fraction(total)) + worst
    if total > SUSPECT:
        return "no", f"{why}: too much"
    if total > GOOD or by_joint[j] > SUSPECT:
        return "care", f"{why}: more than a good model leaves"
    return "yes", why


def _other(estimate: Estimate) -> tuple[str, str]:
    if not estimate.validation:
        return "care", "not tried: no record was held out of the fit"
    seen = {each.get("sha256") for each in estimate.provenance.get("data", [])}
    fresh = [each for each in estimate.validation if not each.record or each.record not in seen]
    if not fresh:
        return "care", "not tried: the only held-out record is one that was fitted to"
    found = [_tried(estimate, each) for each in fresh]
    return max(found, key=lambda each: _RANK[each[0]])


def _tried(estimate: Estimate, tried: Validation) -> tuple[str, str]:
    """Judge one held-out record."""
    if tried.message:
        return "no", f"record {tried.experiment!r} cannot be predicted"
    unexplained = (
        "after filtering, {} of the torque is unexplained in a record that the fit did not see "
        f"({tried.experiment or 'unnamed'})"
    )
    level, why = _explained(estimate, tried.residual, tried.residual_by_joint, unexplained)
    ratio = worsening(tried, estimate.residual, estimate.output)
    if level == "yes" and ratio > WORSE and tried.residual > GOOD / WORSE:
        return "care", f"{why}: {ratio:.2g} times the fit"
    return level, why


def worsening(tried: Validation, fitted: float, output: str) -> float:
    """How many times worse than the fit, whose residual is `fitted`, a record is predicted; 1 where
    the fit says nothing about torques.
    """
    if output == "position" or tried.message:
        return 1.0
    return tried.residual / max(fitted, NEGLIGIBLE)


def _infeasible_poses(estimate: Estimate) -> int:
    """In how many poses of the joint range the inertia matrix is not positive definite."""
    lower, upper = joint_ranges(estimate.model)
    poses = lower + (upper - lower) * qmc.Halton(lower.size, scramble=False).random(_POSES)
    return int(
        np.sum(
            np.linalg.eigvalsh(estimate.model.inertia_matrix(poses, estimate.parameters))[:, 0] <= 0
        )
    )


def _simulation(estimate: Estimate) -> tuple[str, str]:
    if bad := _infeasible_poses(estimate):
        return "no", _INDEFINITE.format(bad, _POSES)
    negative = negative_friction(estimate)
    if negative:
        return "care", f"negative friction would drive the joints: {listed(negative)}"
    return (
        "yes",
        "inertia matrix positive definite over the joint range, no friction clearly negative",
    )


def negative_friction(estimate: Estimate) -> list[str]:
    """Friction parameters that lie more than three corrected sigma below zero."""
    frictional = dict(zip(estimate.model.parameter_names, estimate.model.frictional, strict=True))
    return [
        name
        for name, value, sigma in zip(
            estimate.names, estimate.values, estimate.corrected_sigma, strict=True
        )
        if frictional[name] and value < -3 * sigma
    ]


def weak_parameters(estimate: Estimate) -> list[str]:
    """Parameters that are not significant: relative sigma (19) above 30 %, or zero within the 95 %
    interval.
    """
    low, high = estimate.interval(0.95).T
    with np.errstate(invalid="ignore"):
        weak = (estimate.relative_sigma > INSIGNIFICANT) | ((low <= 0) & (high >= 0))
    return [name for name, is_weak in zip(estimate.names, weak, strict=True) if is_weak]


def widening(estimate: Estimate) -> float:
    """How many times wider the colour of the residuals makes the intervals, median over the
    parameters.
    """
    finite = np.isfinite(estimate.sigma) & (estimate.sigma > 0)
    return (
        float(np.median(estimate.corrected_sigma[finite] / estimate.sigma[finite]))
        if finite.any()
        else 1.0
    )


def assumed_loop(estimate: Estimate) -> bool:
    """Whether the simulated loop was a guess, as its study says."""
    study = estimate.provenance.get("study")
    table = study.get("controller") if isinstance(study, dict) else None
    return (
        estimate.preprocessing.states == "simulated"
        and isinstance(table, dict)
        and bool(table.get("assumed"))
    )


def _values(estimate: Estimate) -> tuple[str, str]:
    weak, count = weak_parameters(estimate), len(estimate.names)
    if weak and len(weak) == count:
        return "no", "no parameter is significant"
    doubts = [f"{len(weak)} of {count} not significant: {listed(weak)}"] if weak else []
    if estimate.scaled_condition > ILL_CONDITIONED:
        doubts.append(
            f"W is ill-conditioned ({estimate.scaled_condition:.3g}), some are hardly identified"
        )
    if (ratio := widening(estimate)) > COLOURED:
        doubts.append(
            f"what is left is not only noise (intervals {ratio:.2g} times wider for it), and may "
            "bias them"
        )
    if assumed_loop(estimate):
        doubts.append("the control loop was assumed")
    if doubts:
        return "care", "; ".join(doubts)
    return "yes", f"all {count} are significant (relative sigma below {INSIGNIFICANT:.0f} %)"
