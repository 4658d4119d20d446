"""What speaks against an estimate, one figure at a time: `judgement` weighs them for each use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from didim.control.halton import halton
from didim.control.tuning import joint_ranges, largest_inertias
from didim.dynamics.model import BaseModel
from didim.results.formatting import joint_label
from didim.results.status import Status
from didim.results.validation import Validation

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

Array = NDArray[np.float64]

GOOD = 0.10
"""Fraction of all torque that a good model may leave unexplained, noise included."""

SUSPECT = 0.25
"""Fraction of the torque beyond which something is wrong, of all joints or of one."""

WORSE = 2.5
"""Times the residual of the fit beyond which the prediction of another record is doubted."""

ANOTHER = 5.0
"""Times the residual of the fit beyond which another record is that of another robot."""

INSIGNIFICANT = 30.0
"""Relative sigma, percent, beyond which a parameter is not significant (section VI.A)."""

ILL_CONDITIONED = 1000.0
"""Scaled condition number beyond which parameters are hard to tell apart."""

NEGLIGIBLE = 1e-3
"""Residual that needs no explanation."""

POSES = 512
"""Poses in which the inertia matrix is tried."""

MOST_LACK = 1.0
"""What a link may lack to be a body, in its described masses, before simulation is refused."""

STRANGE = 100.0
"""Times the described inertia beyond which units are doubted."""

COLOURED = 1.5
"""Times wider that the colour of the residuals makes the intervals (median), beyond which errors of
the model show.
"""

ABOVE_NOISE = 1.3
"""Times the noise beyond which a residual holds errors of the model that can bias parameters."""

SEEN = 0.01
"""Fraction of a record that the fit may have known and the record still counts as held out."""


def only_gains_are_unknown(estimate: Estimate) -> bool:
    """Whether all that the record does not identify are gains of the loop: the dynamics can be
    judged without them.
    """
    unknown = set(estimate.unidentified)
    return estimate.status is Status.UNEXCITED and bool(unknown) and unknown <= set(estimate.gains)


def strange_inertia(estimate: Estimate, J: Array) -> str:
    """What is said where an inertia, J (n,), is far from the described one; empty where it is not,
    or nothing is described.
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


def worsening(tried: Validation, fitted: float, output: str) -> float:
    """How many times worse than the fit, whose residual is `fitted`, a record is predicted; 1 where
    the fit says nothing about torques.
    """
    if output == "position" or tried.message:
        return 1.0
    return tried.worst / max(fitted, NEGLIGIBLE)


def loaded_record(model: BaseModel, tried: Validation, ratio: float) -> str:
    """What is said of a record that carries a load, and what to run."""
    assert tried.load is not None
    seen = tried.load.sentence(model, tried.experiment)
    worse = f"It is predicted {ratio:.2g} times worse than the fit"
    if tried.load.mass > 0:
        run = "Identify the load: didim payload RESULT FILE, or didim.identify_payload."
    else:
        run = (
            "Identify the empty robot from that record first, then the load: didim payload RESULT "
            "FILE, or didim.identify_payload."
        )
    return f"{seen} {worse} ({100 * tried.worst:.3g} % of its torque unexplained). {run}"


def worse_records(
    model: BaseModel, tried: Sequence[Validation], fitted: float, output: str
) -> list[str]:
    """A note on each record that is predicted much worse than the fit would promise."""
    notes = []
    for each in tried:
        ratio, by_joint = worsening(each, fitted, output), each.worst_by_joint
        if ratio > WORSE and each.load is not None:
            notes.append(loaded_record(model, each, ratio))
        elif ratio > WORSE:
            j = int(by_joint.argmax())
            notes.append(
                f"Record {each.experiment!r} is predicted {ratio:.2g} times worse than the fit, "
                f"mostly {joint_label(model, j)} ({100 * by_joint[j]:.3g} %): payload, "
                "temperature, columns or units differ there, or the model does not hold beyond the "
                "fit."
            )
    return notes


def infeasible_poses(estimate: Estimate) -> int:
    """In how many poses of the joint range the inertia matrix is not positive definite."""
    lower, upper = joint_ranges(estimate.model)
    poses = lower + (upper - lower) * halton(lower.size, POSES)
    matrices = estimate.model.inertia_matrix(poses, estimate.parameters)
    return int(np.sum(np.linalg.eigvalsh(matrices)[:, 0] <= 0))


def negative_friction(estimate: Estimate) -> list[str]:
    """Friction parameters that lie more than three corrected sigma below zero."""
    frictional = dict(zip(estimate.model.parameter_names, estimate.model.frictional, strict=True))
    triples = zip(estimate.names, estimate.values, estimate.corrected_sigma, strict=True)
    return [name for name, value, sigma in triples if frictional[name] and value < -3 * sigma]


def weak_parameters(estimate: Estimate) -> list[str]:
    """Parameters that are not significant: relative sigma (19) above 30 %, or zero within the 95 %
    interval.
    """
    low, high = estimate.interval(0.95).T
    with np.errstate(invalid="ignore"):
        weak = (estimate.relative_sigma > INSIGNIFICANT) | ((low <= 0) & (high >= 0))
    pairs, fixed = zip(estimate.names, weak, strict=True), estimate.fixed
    return [name for name, is_weak in pairs if is_weak and name not in fixed]


def widening(estimate: Estimate) -> float:
    """How many times wider the colour of the residuals makes the intervals, median over the
    parameters.
    """
    finite = np.isfinite(estimate.sigma) & (estimate.sigma > 0)
    if not finite.any():
        return 1.0
    return float(np.median(estimate.corrected_sigma[finite] / estimate.sigma[finite]))


def robust_widening(estimate: Estimate) -> float:
    """How many times wider the robust intervals are, median over the parameters; 1 where nothing is
    known.
    """
    if not estimate.lack.shifts:
        return 1.0
    plain = np.ptp(estimate.interval(), axis=1)
    robust = np.ptp(estimate.interval(robust=True), axis=1)
    known = np.isfinite(robust) & (plain > 0)
    return float(np.median(robust[known] / plain[known])) if known.any() else 1.0


def times_the_noise(estimate: Estimate) -> tuple[float, int]:
    """How many times the noise is left of the joint where that is most, and the joint; 1 where the
    noise is not known.
    """
    if estimate.residual_over_noise is None:
        return 1.0, 0
    worth = np.isfinite(estimate.residual_by_joint) & (estimate.residual_by_joint > NEGLIGIBLE)
    known = worth & (estimate.residual_over_noise > 0)
    ratio = np.where(known, estimate.residual_over_noise, 1.0)
    return float(ratio.max()), int(ratio.argmax())


def assumed_loop(estimate: Estimate) -> bool:
    """Whether the simulated loop was a guess, as its study says."""
    study = estimate.provenance.get("study")
    table = study.get("controller") if isinstance(study, dict) else None
    return (
        estimate.preprocessing.states == "simulated"
        and isinstance(table, dict)
        and bool(table.get("assumed"))
    )
