"""Which start the exact method takes: the prior, the end of DIDIM, or the prior in another loop of
the scan; the run that leaves least is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller, Gains
from didim.control.simulated_loop import SimulatedLoop
from didim.dynamics.prior import nearest_consistent
from didim.identification.exact import ExactMethod
from didim.identification.problem import ClosedLoopProblem
from didim.identification.scan import error_with
from didim.identification.search import errors_at
from didim.identification.solve import Outcome
from didim.regression.identifiable import stationary_joints
from didim.results.request import Progress
from didim.results.status import Failure, FailureKind, Status, StopReason
from didim.threads import on_threads

Array = NDArray[np.float64]
Run = tuple[ClosedLoopProblem, Outcome]
"""A problem and how its iteration ended."""

RESTART_RATIO = 1.3
"""Times the noise that a residual may be before the next best start of the scan is tried."""

MAX_RESTARTS = 2

ODD_RATIO = 3.0
"""Times the noise that is left of the other joints, beyond which a joint is odd."""

NEGLIGIBLE = 1e-4
"""Fraction of the torque of a joint that counts as noise where there is less."""

ODD_FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)
"""On each gain of an odd joint."""

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
    return failure if best is None else _with_other_gains(method, best, progress)


def _with_other_gains(method: ExactMethod, best: Run, progress: Progress | None) -> Run:
    """The run, or one from the prior that leaves less, with its gains but for other ones of the one
    joint of which it leaves far more than of the others: that was a minimum of this joint alone.
    """
    j, loop = odd_joint(method, *best), best[0].controller(best[1].iterate.x)
    if j is None or loop is None:
        return best
    loops = _with_gains_of_joint(loop, method.gains_of(loop), j)
    short = method.beginning(loop)
    errors = on_threads(
        lambda each: error_with(short, SimulatedLoop(each), method.prior, method.first), loops
    )
    problem = method.problem(loops[int(np.argmin(errors))])
    outcome = method.run(problem, method.first, progress)
    if isinstance(outcome, Failure) or outcome.residual >= best[1].residual:
        return best
    return problem, outcome


def _with_gains_of_joint(loop: Controller, gains: Gains, j: int) -> list[Controller]:
    """The loop with other kp and kv of one joint."""
    found = []
    for by_kp, by_kv in product(ODD_FACTORS, repeat=2):
        if (by_kp, by_kv) != (1.0, 1.0):
            kp, kv = gains.kp.copy(), gains.kv.copy()
            kp[j], kv[j] = by_kp * kp[j], by_kv * kv[j]
            found.append(loop.with_gains(replace(gains, kp=kp, kv=kv)))
    return found


def odd_joint(method: ExactMethod, problem: ClosedLoopProblem, outcome: Outcome) -> int | None:
    """The joint of which a run with unknown gains leaves far more, over its noise, than of the
    others; None: there is none.
    """
    n, at = method.model.robot.n, outcome.iterate
    closed = method.records.outputs[0] == "tau" and method.settings.estimate_gains is True
    if n == 1 or not closed or outcome.reason.status is not Status.CONVERGED:
        return None
    left = at.evaluation.by_joint[:n]
    ratio = left / np.maximum(problem.noise(at.evaluation, at.window), NEGLIGIBLE)
    j = int(ratio.argmax())
    others = max(float(np.median(np.delete(ratio, j))), 1.0)
    return j if ratio[j] > ODD_RATIO * others else None


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
