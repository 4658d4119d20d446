"""Whether the end of an identification may be believed: one ordered list of checks for all methods.

The first check that finds something decides the status; its remedy says what to do next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from didim.identification.evidence import Evidence
from didim.regression.identifiable import confounded, unidentifiable
from didim.results.common_factor import CLOSE_FACTOR
from didim.results.doubts import SUSPECT
from didim.results.formatting import listed
from didim.results.status import Status, StopReason, Verdict
from didim.structure.blocks import are_long
from didim.threads import on_threads

BANDWIDTH_FACTORS = (0.25, 0.5, 0.75, 1.35, 2.0, 4.0)
"""That are tried where much of the torque is unexplained."""

FEW_BANDWIDTH_FACTORS = (0.5, 2.0)
"""Those where that may be noise, which is unknown: such records are long."""

CLEARLY_BETTER = 0.85
"""Another loop is better if it leaves less than this fraction of the residual."""

OFF_TRAJECTORY = 0.05
"""Fraction of a position by which a simulation that follows the reference may miss it."""

EXPLAINED = 0.5
"""Fraction of the distance of a record from its reference, of a loop that follows it badly."""

MANY_SAMPLES = 2.0
"""Samples of the loop beyond which an estimated delay is pointed out."""

UNKNOWN_GAIN = 0.5
"""Standard deviation of a gain's logarithm beyond which the record does not identify it."""

LEFT_OPEN = "Positions alone may leave a factor on parameters and torque gains open."
EXCITE = "Use a trajectory that moves every joint, in many poses and speeds, or fewer effects."
CHECK_LOOP = (
    "Check the assumed loop (bandwidth or gains, rate, velocity reference), the time alignment of "
    "the reference and the drive gains"
)
START_ELSEWHERE = (
    "start nearer (initial=), use stiffer loops, or IDIM, which needs none, where positions were "
    "measured"
)
OPEN_LOOP = (
    "In open loop a robot runs away from small errors of its torque and of its initial state: use "
    "a shorter record, or give the controller."
)


def judge(evidence: Evidence) -> Verdict:
    """Go down the list of checks."""
    outcome = evidence.outcome
    for check in CHECKS:
        skipped = check.when_converged and not evidence.converged
        if skipped or (found := check.finds(evidence)) is None:
            continue
        parts = (found, check.remedy(evidence), outcome.ending if check.tells_ending else "")
        status = check.status or outcome.reason.status
        message = " ".join(filter(None, parts))
        return Verdict(status, message, _caveats(evidence), tuple(check.names(evidence)))
    doubts = []
    if evidence.worst_joint is not None:
        doubts.append(
            f"More is unexplained than noise: {evidence.excess}. The model may lack an effect "
            "(friction, offset), or the loop differs."
        )
    return Verdict(Status.CONVERGED, outcome.ending, (*doubts, *_caveats(evidence)))


def unexcited(findings: list[str], remedy: str = EXCITE) -> Verdict | None:
    """The verdict on a record that does not identify something; None where nothing was found."""
    text = "; ".join(findings)
    message = f"{text[:1].upper()}{text[1:]}. {remedy}"
    return Verdict(Status.UNEXCITED, message) if findings else None


def loop_advice(evidence: Evidence) -> str:
    """What to look at where the simulated loop does not fit the record."""
    more = "" if evidence.estimates_gains else "; estimate_gains=True estimates the gains"
    return f"{CHECK_LOOP}{more}."


def _lacks(evidence: Evidence) -> list[str]:
    problem, system = evidence.problem, evidence.iterate.equations
    return unidentifiable(problem.base, system, evidence.solution, problem.records.references)


def _excitation(evidence: Evidence) -> str | None:
    return found.message.strip() if (found := unexcited(_lacks(evidence), "")) else None


def _excitation_remedy(evidence: Evidence) -> str:
    alone = evidence.problem.records.outputs == ("q",) and evidence.estimates_gains
    return f"{LEFT_OPEN} {CLOSE_FACTOR} {EXCITE}" if alone else EXCITE


def _unfinished(evidence: Evidence) -> str | None:
    return None if evidence.converged else evidence.outcome.ending


def _unfinished_remedy(evidence: Evidence) -> str:
    if evidence.outcome.reason is StopReason.REQUEST:
        return ""
    if evidence.is_open_loop:
        return OPEN_LOOP
    return f"{loop_advice(evidence).rstrip('.')}; {START_ELSEWHERE}."


def _open_loop_error(evidence: Evidence) -> str | None:
    residual = evidence.iterate.evaluation.residual
    doubted = evidence.is_open_loop and residual > SUSPECT
    return f"{100 * residual:.3g} % of the position is unexplained." if doubted else None


def _off_trajectory(evidence: Evidence) -> str | None:
    outputs, n = evidence.problem.records.outputs, evidence.problem.records.n
    if evidence.is_open_loop or "q" not in outputs:
        return None
    first = n * outputs.index("q")
    error = evidence.iterate.evaluation.by_joint[first : first + n]
    lag = evidence.problem.records.tracking_error
    if not np.any(error > np.maximum(OFF_TRAJECTORY, EXPLAINED * lag)):
        return None
    what = f"the simulated position of {evidence.label(int(error.argmax()))}"
    far = f"{100 * error.max():.3g} % off: check its unit, sign and column."
    return f"The iteration settled, but {what} is {far}"


def _other_bandwidth(evidence: Evidence) -> str | None:
    """No threshold on the residual separates a wrong bandwidth from an imperfect model; a loop of
    another bandwidth that explains the record better does.
    """
    if evidence.worst_joint is None:
        return None
    now = float(np.sqrt(np.mean(evidence.residual**2)))
    known = evidence.noise[evidence.worst_joint] > 0
    factors = BANDWIDTH_FACTORS if known else FEW_BANDWIDTH_FACTORS
    each_of = map if are_long(evidence.problem.records.records) else on_threads
    errors = dict(zip(factors, each_of(evidence.error_at, factors), strict=True))
    best = min(errors, key=lambda factor: errors[factor])
    if not errors[best] < CLEARLY_BETTER * now:
        return None
    return (
        f"The iteration settled, but {evidence.excess}. A loop of {best:g} times the assumed "
        f"bandwidth explains the record better (unexplained {100 * errors[best]:.3g} % instead of "
        f"{100 * now:.3g} %, rms over the joints): the assumed loop is not the robot's."
    )


def _unexplained(evidence: Evidence) -> str | None:
    j = evidence.worst_joint
    if j is None or not evidence.residual[j] > SUSPECT or not evidence.needs_loop:
        return None
    return (
        "The iteration settled, but the simulated loop does not reproduce the record: "
        f"{evidence.excess}."
    )


def _confounded(evidence: Evidence) -> list[str]:
    hidden = confounded(evidence.iterate.equations, evidence.solution)
    return hidden if len(_lacks(evidence)) == 1 else []


def _unknown_gains(evidence: Evidence) -> list[str]:
    problem, b = evidence.problem, evidence.problem.base.matrix.shape[0]
    names = [*problem.robot.shape_names, *problem.loop.gain_names]
    sigma = np.sqrt(np.diag(evidence.solution.inverse))[b : b + len(names)]
    return [name for name, s in zip(names, sigma, strict=True) if s > UNKNOWN_GAIN]


def _gains(evidence: Evidence) -> str | None:
    unknown = _unknown_gains(evidence)
    if not unknown:
        return None
    shapes = set(unknown) & set(evidence.problem.robot.shape_names)
    return f"The record does not identify {'' if shapes else 'the gains '}{listed(unknown)}."


def _other_reference(evidence: Evidence) -> str | None:
    """Gains of a law with a velocity reference imitate those of one without as well as they can;
    only the residual separates them.
    """
    doubted = evidence.worst_joint is not None or _caveats(evidence)
    if not evidence.estimates_gains or not doubted:
        return None
    now, found = evidence.iterate.evaluation.rms, evidence.error_with_other_reference()
    if found is None or not found[1] < CLEARLY_BETTER * now:
        return None
    return (
        f"The iteration settled, but the same law with velocity_reference = {found[0]:g} leaves "
        f"less unexplained ({100 * found[1]:.3g} % instead of {100 * now:.3g} %, rms over the "
        "joints): it is the more likely law."
    )


def _caveats(evidence: Evidence) -> tuple[str, ...]:
    """What the numbers do not include, or need to be checked for."""
    if evidence.is_open_loop:
        return (
            "In open loop the recorded torque drives the simulation: its noise and offset are not "
            "in sigma.",
        )
    iterate = evidence.iterate
    problem = evidence.problem
    delay, loop = problem.robot.delay(iterate.x.further), iterate.controller
    if loop is None or not abs(delay) > MANY_SAMPLES / (loop.rate or 1e3):
        return ()
    return (
        f"A delay of {1e3 * delay:.3g} ms was needed, more than {MANY_SAMPLES:g} samples of the "
        "loop: check the law's own delay and the time alignment of the reference. Gains suffer "
        "where one stands for the other.",
    )


@dataclass(frozen=True)
class Check:
    """One thing that a converged iteration can hide."""

    status: Status | None
    """Of the estimate where it is found; None: that of the iteration itself."""
    finds: Callable[[Evidence], str | None]
    """A sentence, or None."""
    remedy: Callable[[Evidence], str]
    """What to do."""
    when_converged: bool = True
    """Whether it is looked for only where the iteration converged."""
    tells_ending: bool = False
    """Whether the message goes on with how the iteration ended."""
    names: Callable[[Evidence], list[str]] = lambda _: []
    """What is not identified, where that is what it found."""


CHECKS = (
    Check(Status.UNEXCITED, _excitation, _excitation_remedy, False, True, _confounded),
    Check(None, _unfinished, _unfinished_remedy, False),
    Check(Status.DIVERGED, _open_loop_error, lambda _: OPEN_LOOP),
    Check(Status.DIVERGED, _off_trajectory, loop_advice),
    Check(Status.DIVERGED, _other_bandwidth, loop_advice),
    Check(Status.DIVERGED, _unexplained, loop_advice),
    Check(
        Status.UNEXCITED,
        _gains,
        lambda _: "Give them, or excite the loop more (faster motion, larger tracking error).",
        tells_ending=True,
        names=_unknown_gains,
    ),
    Check(Status.DIVERGED, _other_reference, lambda _: "", tells_ending=True),
)
