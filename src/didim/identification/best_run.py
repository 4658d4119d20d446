"""Which start the exact method takes: the prior, the end of DIDIM, or the prior in another loop of
the scan; the run that leaves least is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.prior import nearest_consistent
from didim.identification.exact import ExactMethod
from didim.identification.problem import ClosedLoopProblem
from didim.identification.search import errors_at
from didim.identification.solve import Outcome
from didim.regression.identifiable import stationary_joints
from didim.results.request import Progress
from didim.results.status import Failure, FailureKind, Status, StopReason

Array = NDArray[np.float64]
Run = tuple[ClosedLoopProblem, Outcome]
"""A problem and how its iteration ended."""

RESTART_RATIO = 1.3
"""Times the noise that a residual may be before the next best start of the scan is tried."""

MAX_RESTARTS = 2

GOOD_START = 0.1
"""Residual below which the prior needs no better start."""


def from_good_prior(method: ExactMethod, progress: Progress | None = None) -> Run | None:
    """The run from the prior; None where that explains too little of the torque."""
    if stationary_joints(method.model, method.records.references):
        return None
    problem = method.problem(method.loops[0])
    found = problem.evaluate(*method.point(problem, method.first))
    if isinstance(found, Failure) or not found.residual < GOOD_START:
        return None
    del found  # long records have no room for it
    outcome = method.run(problem, method.first, progress)
    return None if isinstance(outcome, Failure) else (problem, outcome)


def best_run(
    method: ExactMethod,
    others: Sequence[Array] = (),
    progress: Progress | None = None,
    begun: Run | None = None,
) -> Run | Failure:
    """The run that leaves least, or why none could be started: from the best of `others`, each
    (b,), if that leaves less than the prior, and from the prior; where `begun` is the run from
    the prior, from the best of `others` only if that leaves less than its end.
    """
    if begun is not None and is_explained(method, *begun):
        return begun
    better, worse = _starts(method, others, begun)
    first = [(method.loops[0], start) for start in better[:1]]
    loops = method.loops[0 if begun is None else 1 : 1 + MAX_RESTARTS]
    usual = [*first, *((loop, method.first) for loop in loops)]
    fallback = [(method.loops[0], start) for start in worse]
    best, failure = begun, Failure(FailureKind.SIMULATION, "no start could be simulated")
    for k, (loop, start) in enumerate([*usual, *fallback]):
        if k >= len(first) and best is not None and (k >= len(usual) or is_final(method, *best)):
            break
        problem = method.problem(loop)
        outcome = method.run(problem, start, progress)
        if isinstance(outcome, Failure):
            failure = outcome
            continue
        if best is None or outcome.residual < best[1].residual:
            best = problem, outcome
        if outcome.reason is StopReason.REQUEST:
            break
    return failure if best is None else best


def _starts(
    method: ExactMethod, others: Sequence[Array], begun: Run | None
) -> tuple[list[Array], list[Array]]:
    """Physically consistent starts (p,) near others, best first: those that leave less than the
    prior, or than the run that began there, and those that do not.
    """
    if not others:
        return [], []
    problem = method.problem(method.loops[0])
    starts = [nearest_consistent(method.prior, method.model, each) for each in others]
    points = [method.point(problem, start) for start in (method.first, *starts)]
    if begun is None:
        limit, *left = errors_at(problem, points)
    else:
        limit, left = begun[1].iterate.evaluation.rms, [*errors_at(problem, points[1:])]
    order = [k for k in np.argsort(left, kind="stable").tolist() if np.isfinite(left[k])]
    better = [starts[k] for k in order if left[k] < limit]
    return better, [starts[k] for k in order if not left[k] < limit]


def is_explained(method: ExactMethod, problem: ClosedLoopProblem, outcome: Outcome) -> bool:
    """Whether a run needs no other: the user stopped it, or it converged with hardly more than
    the noise.
    """
    if outcome.reason is StopReason.REQUEST:
        return True
    if outcome.reason.status is not Status.CONVERGED or method.records.outputs[0] != "tau":
        return False
    at, n = outcome.iterate, method.model.robot.n
    noise = problem.noise(at.evaluation, at.window)
    return bool(np.all(at.evaluation.by_joint[:n] <= RESTART_RATIO * noise))


def is_final(method: ExactMethod, problem: ClosedLoopProblem, outcome: Outcome) -> bool:
    """Whether no other start of the scan is tried: it is explained, or it converged with less
    than after the scan.
    """
    if is_explained(method, problem, outcome):
        return True
    if outcome.reason.status is not Status.CONVERGED:
        return False
    scanned = method.records.outputs[0] == "tau" and method.scanned
    return not scanned or outcome.iterate.evaluation.rms < min(scanned.values())


def error_with_other_reference(method: ExactMethod) -> tuple[float, float] | None:
    """The same law with or without the reference's velocity, its gains fitted too."""
    loop = method.controller
    parts = np.unique([] if loop is None else np.asarray(loop.velocity_reference, dtype=float))
    if loop is None or loop.model_term != "none" or parts.size != 1 or parts[0] not in (0, 1):
        return None
    other = float(1.0 - parts[0])
    law = replace(loop, velocity_reference=other)
    found = best_run(replace(method, controller=law, start=None))
    return None if isinstance(found, Failure) else (other, found[1].iterate.evaluation.rms)
