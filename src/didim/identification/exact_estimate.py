"""From the best run of the exact method to an estimate, judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import SimulatedLoop, friction_ratio
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.best_run import Run, best_run, error_with_other_reference
from didim.identification.evidence import Evidence
from didim.identification.exact import ExactMethod
from didim.identification.identify import assemble
from didim.identification.problem import ClosedLoopProblem
from didim.identification.rules import Iterate
from didim.identification.scan import error_with
from didim.identification.solve import Outcome
from didim.identification.verdict import CHECK_LOOP, OPEN_LOOP, judge, unexcited
from didim.regression.identifiable import stationary_joints
from didim.regression.least_squares import Solution, least_squares
from didim.regression.statistics import convergence_rate, statistics
from didim.results.common_factor import CLOSE_FACTOR, open_factor
from didim.results.estimate import Estimate
from didim.results.history import Iteration
from didim.results.plausibility import bias_notes
from didim.results.prediction import Preprocessing
from didim.results.request import Request
from didim.results.status import Failure, FailureKind, Status, Verdict
from didim.simulation.records import record_notes
from didim.structure.estimate_tests import Fit

Array = NDArray[np.float64]

BANDWIDTH_STEPS = 2
"""Steps in a loop of another bandwidth, for the verdict."""


def identify_exactly(
    method: ExactMethod,
    request: Request,
    others: Sequence[Array] = (),
    history: Sequence[Iteration] = (),
    first: Estimate | None = None,
    begun: Run | None = None,
) -> Estimate:
    """Identify from the prior, or from the base parameters `others`, each (b,), if they are
    better; `history` is that of the stage which led to these, `first` its estimate where it
    settled, `begun` the run from the prior where it was made.
    """
    if verdict := unexcited(stationary_joints(method.model, method.records.references)):
        return _failed(method, request, verdict)
    alone = method.records.outputs == ("q",)
    findings = open_factor(method.model, method.simulated(method.loops[0])) if alone else []
    if verdict := unexcited(findings, CLOSE_FACTOR):
        return _failed(method, request, verdict)
    best = best_run(method, others, request.progress, begun)
    request.tell(1.0)
    if isinstance(best, Failure) and best.kind is FailureKind.FEW_EQUATIONS:
        raise InputError(
            f"The record is too short: {best}. Record longer, decimate less, or cut less."
        )
    if isinstance(best, Failure):
        advice = f"{CHECK_LOOP}, or start elsewhere (initial=)."
        remedy = advice if method.records.is_closed else OPEN_LOOP
        message = f"The first simulation fails: {best.detail.rstrip('.')}. {remedy}"
        return _failed(method, request, Verdict(Status.DIVERGED, message, method.scan_notes))
    return _finished(method, request, *best, () if best is begun else history, first)


def _finished(
    method: ExactMethod,
    request: Request,
    problem: ClosedLoopProblem,
    outcome: Outcome,
    history: Sequence[Iteration],
    first: Estimate | None,
) -> Estimate:
    """The estimate at the last iterate, judged."""
    at, robot = outcome.iterate, problem.robot
    system, b, n = at.equations, method.model.matrix.shape[0], method.model.robot.n
    z, model = at.x.further, robot.model(at.x.further)
    request = replace(request, model=model) if isinstance(model, BaseModel) else request
    weights, factors = at.weights
    solution = replace(least_squares(system, weights), robust=factors)
    evidence = _evidence(method, problem, outcome, solution)
    verdict = judge(evidence)
    figures = statistics(system, solution, np.zeros(system.W.shape[1]))
    shapes, gains = robot.estimated(z, figures.corrected[b:, b:])
    settled = verdict.status is Status.CONVERGED and not gains
    if settled and first is not None and first.status is Status.CONVERGED:
        bias = bias_notes(first, at.x.base, figures.corrected)
        verdict = replace(verdict, notes=(*verdict.notes, *bias))
    transient, delay, records = at.window.transient, robot.delay(z), method.records.records
    return _assembled(
        method,
        request,
        verdict,
        at.x.base,
        replace(method.preprocessing, transient=transient, delay=delay, **robot.offsets(z)),
        at.controller,
        (*method.records.notes, *method.records.window_notes(at.window), *method.scan_notes),
        figures=figures,
        residual=_residual(at, n),
        residual_over_noise=evidence.over_noise if method.output == "torque" else None,
        iterations=outcome.steps,
        history=(*history, *outcome.history[:-1], _last_entry(problem, at, outcome.history[-1])),
        gains=gains,
        shapes=shapes,
        standard=at.x.standard,
        fit=Fit(system, at.row_weights, system.y, records, at.x.base, at.evaluation.motions)
        if method.output == "torque" and at.controller is not None
        else None,
    )


def _assembled(
    method: ExactMethod,
    request: Request,
    verdict: Verdict,
    values: Array,
    preprocessing: Preprocessing,
    controller: Controller | None,
    notes: tuple[str, ...] = (),
    **more: Any,
) -> Estimate:
    more |= {"controller": controller, "output": method.output}
    more["notes"] = (*record_notes(method.records.records), *notes)
    end = verdict, preprocessing, values
    return assemble(request, method.name, method.settings, *end, **more)


def _evidence(
    method: ExactMethod, problem: ClosedLoopProblem, outcome: Outcome, solution: Solution
) -> Evidence:
    at = outcome.iterate
    fixed, standard = method.settings.estimate_gains or at.controller is None, at.x.standard
    fixed = fixed or any(record.tau is None for record in method.records.records)

    def error_at(factor: float) -> float:
        if fixed or standard is None:
            return np.inf
        loop = SimulatedLoop(at.controller).faster(factor)
        return error_with(problem.held(at.x), loop, method.prior, standard, BANDWIDTH_STEPS)

    return Evidence(
        problem, outcome, solution, error_at, partial(error_with_other_reference, method)
    )


def _last_entry(problem: ClosedLoopProblem, at: Iterate, entry: Iteration) -> Iteration:
    """The last step, with what its Jacobian says of DIDIM."""
    loop, base, model = at.controller, at.x.base, problem.base
    if problem.records.outputs != ("tau",) or loop is None:
        return entry
    held, b = problem.held(at.x), model.matrix.shape[0]
    system = held.regressor(at.evaluation, at.window)
    solution = least_squares(system, (1.0 / at.evaluation.deviations)[system.joint])
    J = largest_inertias(model, base)
    return replace(
        entry,
        convergence_rate=convergence_rate(solution, system, at.equations.W[:, :b]),
        friction_ratio=friction_ratio(model, base, loop, J),
    )


def _failed(method: ExactMethod, request: Request, verdict: Verdict) -> Estimate:
    """Nothing was identified."""
    base = method.model.matrix @ method.first
    return _assembled(method, request, verdict, base, method.preprocessing, method.controller)


def _residual(at: Iterate, n: int) -> tuple[float, Array]:
    """||Y - Y_s|| / ||Y|| of the first output, in all and by joint (n,)."""
    rho, joint, sizes = at.equations.y, at.equations.joint, at.evaluation.sizes[:n]
    errors = np.array([np.linalg.norm(rho[joint == j]) for j in range(n)])
    total = float(np.linalg.norm(errors) / np.linalg.norm(sizes))
    return total, errors / np.where(sizes > 0, sizes, 1.0)
