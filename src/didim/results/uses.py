"""How well a model serves each use, "yes", "care" or "no", and why: `judgement.py` makes the answer
of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import largest_inertias
from didim.results.doubts import (
    ABOVE_NOISE,
    ANOTHER,
    COLOURED,
    GOOD,
    ILL_CONDITIONED,
    INSIGNIFICANT,
    MOST_LACK,
    POSES,
    SEEN,
    SUSPECT,
    WORSE,
    assumed_loop,
    infeasible_poses,
    negative_friction,
    only_gains_are_unknown,
    strange_inertia,
    times_the_noise,
    weak_parameters,
    widening,
    worsening,
)
from didim.results.formatting import fraction, joint_label, listed
from didim.results.lack_of_fit import Remedy
from didim.results.status import Status

if TYPE_CHECKING:
    from didim.results.estimate import Estimate
    from didim.results.validation import Validation

Array = NDArray[np.float64]
Judged = tuple[str, str]
"""Level and why."""

_INDEFINITE = "the inertia matrix is not positive definite in {} of {} poses of the joint range"
_RANK = {"yes": 0, "care": 1, "no": 2}


def prediction_ratio(estimate: Estimate, tried: Validation) -> float:
    """How many times worse than the fit a record is predicted."""
    return worsening(tried, estimate.residual, estimate.output)


def recorded_torque(estimate: Estimate) -> Judged:
    """Torque of motions like the recorded ones."""
    if estimate.status is not Status.CONVERGED and not only_gains_are_unknown(estimate):
        return "no", f"the status is {estimate.status}"
    if not np.all(np.isfinite(estimate.parameters)) or not np.isfinite(estimate.residual):
        return "no", "there are no finite values"
    J = largest_inertias(estimate.model, estimate.parameters)
    if np.any(J <= 0):
        label = joint_label(estimate.model, int(J.argmin()))
        return "no", f"the inertia of {label} is not positive, which no machine has"
    if (bad := infeasible_poses(estimate)) > POSES // 2:
        return "no", f"{_INDEFINITE.format(bad, POSES)}, which no machine has"
    if estimate.output == "position":
        left = f"fitted to positions, {fraction(estimate.residual)} unexplained"
        return "care", f"{left}; torques were not compared"
    left = "after filtering, the fit leaves {} of the recorded torque"
    found = [_explained(estimate, estimate.residual, estimate.residual_by_joint, left)]
    for each in estimate.fitted:
        rest = f"{100 * each.left_out:.3g} % of them below rest_velocity"
        left = f"with all rows that move, {rest}, {{}} of record {each.experiment!r}"
        found.append(_explained(estimate, each.residual, each.residual_by_joint, left))
    found += _along(estimate)
    level, why = _worst(found)
    if level == "yes" and (doubt := strange_inertia(estimate, J)):
        return "care", f"{why}; {doubt}"
    return level, why


def _along(estimate: Estimate) -> list[Judged]:
    """The fitted records along their measured motion: the worst one."""
    if not estimate.along_motion:
        return []
    worst = max(estimate.along_motion, key=lambda each: each.residual)
    left = "along the measured motion, inverse dynamics leaves {} of the recorded torque"
    level, why = _explained(estimate, worst.residual, worst.residual_by_joint, left)
    ratio = worst.residual / max(estimate.residual, 1e-12)
    if level == "yes" and ratio > WORSE and worst.residual > GOOD / WORSE:
        level, why = "care", f"{why}, {ratio:.2g} times what the simulated loop leaves"
    return [(level, why if level == "yes" else f"{why}: is the simulated loop the robot's?")]


def _worst(found: list[Judged]) -> Judged:
    """The lowest level, the first of those that have it; where all are good, all that was found."""
    level, why = max(found, key=lambda each: _RANK[each[0]])
    return (level, "; ".join(each for _, each in found)) if level == "yes" else (level, why)


def _explained(estimate: Estimate, total: float, by_joint: Array, sentence: str) -> Judged:
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


def other_torque(estimate: Estimate) -> Judged:
    """Torque of other motions, by the held-out records."""
    if not estimate.validation:
        return "care", "not tried: no record was held out of the fit"
    known = {each.get("sha256") for each in estimate.provenance.get("data", [])}
    fresh = [
        each
        for each in estimate.validation
        if each.seen <= SEEN and (not each.record or each.record not in known)
    ]
    if not fresh:
        why = "not tried: the only held-out record is one that was fitted to, in whole or in part"
        return "care", why
    return max((_tried(estimate, each) for each in fresh), key=lambda each: _RANK[each[0]])


def _tried(estimate: Estimate, tried: Validation) -> Judged:
    """Judge one held-out record by the larger of its errors."""
    if tried.message:
        return "no", f"record {tried.experiment!r} cannot be predicted"
    simulated = tried.along_motion is None or tried.residual == tried.worst
    way = "after filtering" if simulated else "along the measured motion"
    unexplained = (
        f"{way}, {{}} of the torque is unexplained in a record that the fit did not see "
        f"({tried.experiment or 'unnamed'}{tried.rows_left_out})"
    )
    level, why = _explained(estimate, tried.worst, tried.worst_by_joint, unexplained)
    ratio = prediction_ratio(estimate, tried)
    if ratio > ANOTHER and tried.worst > GOOD:
        return "no", f"{why}: {ratio:.2g} times the fit"
    if level == "yes" and ratio > WORSE and tried.worst > GOOD / WORSE:
        return "care", f"{why}: {ratio:.2g} times the fit"
    return level, why


def simulation(estimate: Estimate) -> Judged:
    """Simulation and model-based control."""
    if bad := infeasible_poses(estimate):
        return "no", _INDEFINITE.format(bad, POSES)
    found = estimate.consistency
    if any(each.lack > MOST_LACK for each in found.links):
        return "no", f"no robot has these parameters: {found.reason}"
    if negative := negative_friction(estimate):
        return "care", f"negative friction would drive the joints: {listed(negative)}"
    if not found.physical:
        return "care", f"no robot has exactly these parameters: {found.reason}"
    why = "a robot with these parameters exists, M(q) positive definite over the joint range"
    return "yes", why


def single_values(estimate: Estimate) -> Judged:
    """Single parameters."""
    weak, count = weak_parameters(estimate), len(estimate.names) - len(estimate.fixed)
    if weak and len(weak) == count:
        return "no", "no parameter is significant"
    doubts = [f"{len(weak)} of {count} not significant: {listed(weak)}"] if weak else []
    if estimate.scaled_condition > ILL_CONDITIONED:
        doubts.append(
            f"W is ill-conditioned ({estimate.scaled_condition:.3g}), some are hardly identified"
        )
    doubts += (left := _more_than_noise(estimate))
    if not left and (ratio := widening(estimate)) > COLOURED:
        doubts.append(
            f"what is left is not only noise (intervals {ratio:.2g} times wider for it), and may "
            "bias them"
        )
    if estimate.at_border:
        doubts.append(
            f"intervals do not hold at the border of what is physical: {listed(estimate.at_border)}"
        )
    if assumed_loop(estimate):
        doubts.append("the control loop was assumed")
    if lack := estimate.lack.found:
        doubts.append(
            f"what is left asks for {lack[0].label} (p = {lack[0].p_value:.1g}): intervals hold "
            "only for a model that lacks nothing"
        )
    elif not estimate.lack.quiet:
        doubts.append(f"what the model lacks was not tested: {estimate.lack.reason}")
    if doubts:
        return "care", "; ".join(doubts)
    return "yes", f"all {count} are significant (relative sigma below {INSIGNIFICANT:.0f} %)"


def _more_than_noise(estimate: Estimate) -> list[str]:
    """Of the joint where most is left."""
    ratio, j = times_the_noise(estimate)
    label = joint_label(estimate.model, j)
    sentence = f"of {label}, {ratio:.2g} times the noise is left, which may bias them"
    return [sentence] if ratio > ABOVE_NOISE else []


def loop_gains(estimate: Estimate) -> Judged:
    """Gains of the loop."""
    wrong = [row for row in estimate.lack.found if row.remedy is Remedy.GAIN]
    if wrong:
        return "no", f"the record asks for another {wrong[0].label}: {wrong[0].shown_value}"
    if not estimate.gains:
        if assumed_loop(estimate):
            return "no", "they were assumed, and are not identified"
        return "care", "given, not identified: estimate_gains=True does"
    if estimate.unidentified:
        return "no", f"the record does not identify {listed(list(estimate.unidentified))}"
    vague = [
        name
        for name, (value, sigma) in estimate.gains.items()
        if not 100 * sigma <= INSIGNIFICANT * abs(value) and name != "delay"
    ]
    if vague:
        return "care", f"known to no better than {INSIGNIFICANT:.0f} %: {listed(vague)}"
    doubts = _more_than_noise(estimate)
    if lack := estimate.lack.found:
        doubts.append(f"what is left asks for {lack[0].label} (p = {lack[0].p_value:.1g})")
    if doubts:
        return "care", "; ".join(doubts)
    joints = range(1, 1 + estimate.model.robot.n)
    given = [k for k in ("kp", "kv") if all(f"{k}{j}" not in estimate.gains for j in joints)]
    if given:
        return "care", f"{listed(given)} were given; the others are identified"
    return "yes", "identified, each to better than 30 %"
