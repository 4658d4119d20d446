"""One run of DIDIM, Fig. 5: the rule of the regressor (48), from its start to an estimate."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.laws import OwnLaw
from didim.control.simulated_loop import SimulatedLoop
from didim.control.tuning import largest_inertias
from didim.identification.evidence import Evidence
from didim.identification.identify import assemble
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate
from didim.identification.rules.regressor import RegressorRule
from didim.identification.search import HALVING, Halving
from didim.identification.solve import Outcome, solve
from didim.identification.stopping import InSigma, Never, Printed
from didim.identification.verdict import judge, unexcited
from didim.regression.identifiable import stationary_joints
from didim.regression.statistics import convergence_rate, statistics
from didim.regression.torque_factors import torque_factors
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label
from didim.results.prediction import Preprocessing, relative_residual
from didim.results.request import Request
from didim.results.scale_doubts import MAX_FACTOR
from didim.results.start import Start, start_of
from didim.results.status import Failure, FailureKind, Status, Verdict
from didim.simulation.record_set import RecordSet
from didim.simulation.records import record_notes
from didim.structure.estimate_tests import Fit

Array = NDArray[np.float64]
Iterated = tuple[ClosedLoopProblem, Outcome | Verdict, list[str]]
"""The problem, how its iteration ended, and notes; a verdict where no simulation was started."""


@dataclass(frozen=True, eq=False)
class RegressorMethod:
    """Settings and records; `run` identifies."""

    settings: Any
    """The `DIDIM` that runs it."""
    records: RecordSet
    preprocessing: Preprocessing
    search: Halving = HALVING
    """How often a step is halved before it is given up, with guards."""

    def run(self, request: Request) -> Estimate:
        """DIDIM: the rule of the regressor (48), from the start that the settings name."""
        return self.estimate(request, self.iterated(request))

    def iterated(self, request: Request) -> Iterated:
        """The iteration alone."""
        request, guards = _held(request), self.settings.guards
        rule = RegressorRule(
            self.settings.weights, guards, guards, guards, self.settings.accelerate
        )
        return iterated(self.settings, self.records, rule, request, self.search)

    def estimate(self, request: Request, iterated: Iterated) -> Estimate:
        """What the iteration found, judged."""
        problem, outcome, notes = iterated
        if isinstance(outcome, Verdict):
            return self._failed(_held(request), outcome)
        return self._finished(_held(request), problem, outcome, notes)

    def _finished(
        self, request: Request, problem: ClosedLoopProblem, outcome: Outcome, notes: list[str]
    ) -> Estimate:
        """The estimate at the last iterate, judged."""
        at, model, records = outcome.iterate, request.model, problem.records
        system, solution, history = at.equations, at.solution, list(outcome.history)
        assert solution is not None
        settled, jacobian = outcome.reason.status is Status.CONVERGED, None
        if settled and self.settings.exact_interval:
            jacobian = self._exact_jacobian(problem, at)
        if jacobian is not None:
            rate = convergence_rate(solution, system, jacobian)
            history[-1] = replace(history[-1], convergence_rate=rate)
        error_at = partial(self._error_at, problem, at)
        evidence = Evidence(problem, outcome, solution, error_at)
        verdict = judge(evidence)
        rho, motions = system.residual(at.x.base), at.evaluation.motions
        return assemble(
            request,
            "DIDIM",
            self.settings,
            verdict,
            replace(self.preprocessing, transient=at.window.transient),
            at.x.base,
            statistics(system, solution, at.x.base, jacobian),
            relative_residual(rho, system.y, system.joint, model.robot.n),
            controller=at.controller,
            notes=(*notes, *records.notes, *records.window_notes(at.window)),
            residual_over_noise=evidence.over_noise,
            iterations=outcome.steps,
            history=tuple(history),
            factors=torque_factors(system, solution, at.x.base, MAX_FACTOR) if settled else None,
            fit=Fit(system, solution.row_weights, rho, records.records, at.x.base, motions),
        )

    def _exact_jacobian(self, problem: ClosedLoopProblem, at: Iterate) -> Array | None:
        """How the torque changes with the parameters (r, b); None where it is not known.

        Gains of a loop given by poles follow the parameters (59), which is included; own gains that
        are retuned count as fixed.
        """
        loop = at.controller
        assert loop is not None
        if self.settings.updates and loop.by_poles:
            loop = replace(loop, inertia=None)
        exact = replace(problem, loop=SimulatedLoop(loop))
        found = exact.linearise(Unknowns(at.x.base), at.window)
        return None if isinstance(found, Failure) else found[1].W

    def _error_at(self, problem: ClosedLoopProblem, at: Iterate, factor: float) -> float:
        """The torque error, rms over the joints, after one step in a loop of another bandwidth;
        infinite where there is none.
        """
        if isinstance(self.settings.controller, OwnLaw):
            return np.inf
        other = replace(problem, loop=problem.loop.faster(factor))
        rule = RegressorRule(self.settings.weights, True, False, False, False, moves_window=False)
        first = other.evaluate(at.x, at.window)
        if isinstance(first, Failure):
            return np.inf
        start = rule.iterate(other, at.x, first, at.window)
        outcome = solve(other, rule, Halving(0), Never(), start, 1)
        return min(first.rms, outcome.iterate.evaluation.rms)

    def _failed(self, request: Request, verdict: Verdict) -> Estimate:
        """Nothing was identified."""
        settings, notes = self.settings, record_notes(self.records.records)
        end = verdict, self.preprocessing, start_of(request.model, settings.initial).base
        more = {"controller": settings.controller, "notes": notes}
        return assemble(request, "DIDIM", settings, *end, **more)


def _held(request: Request) -> Request:
    """DIDIM is linear in its parameters: shapes are known."""
    return replace(request, model=request.model.with_held_shapes())


def iterated(
    settings: Any,
    records: RecordSet,
    rule: RegressorRule,
    request: Request,
    search: Halving = HALVING,
) -> Iterated:
    """Iterate from the start that the settings name, in a loop whose gains may follow the
    parameters (59).
    """
    model, initial = request.model, settings.initial
    loop = SimulatedLoop(settings.controller, settings.updates)
    problem = ClosedLoopProblem(model, records, loop)
    notes = list(record_notes(records.records))
    if verdict := unexcited(stationary_joints(model, records.references)):
        return problem, verdict, notes
    first = started(problem, rule, start_of(model, initial))
    if isinstance(first, Failure) and isinstance(initial, str) and initial == "unit":
        first = started(problem, rule, start_of(model, "identity"))
        notes.append('The simulation from "unit" (63) failed; started from "identity" (61).')
    if isinstance(first, Failure):
        message = (
            f"The first simulation, with chi^0, fails: {first.detail.rstrip('.')}. Check the "
            "loop's gains, rate and drive gain, or start elsewhere (initial=)."
        )
        return problem, Verdict(Status.DIVERGED, message), notes
    tests = InSigma if settings.stopping == "sigma" else Printed
    stopping = tests(settings.tol_residual, settings.tol_parameters)
    search = search if settings.guards else Halving(0)
    limit, handed_over = settings.max_iterations, [first]
    del first  # `solve` drops it after the first step
    outcome = solve(problem, rule, search, stopping, handed_over.pop(), limit, request.progress)
    request.tell(1.0)
    return problem, outcome, notes


def started(problem: ClosedLoopProblem, rule: RegressorRule, start: Start) -> Iterate | Failure:
    """The iterate of chi^0; a model of its own simulates it where M = I needs rotors that the robot
    does not have.
    """
    began = time.perf_counter()
    J = largest_inertias(start.model, start.parameters)
    if not np.all(J > 0):
        j = int(J.argmin())
        detail = f"the inertia of {joint_label(problem.model, j)} is not positive"
        return Failure(FailureKind.INERTIA, detail, joint=j)
    own, x = replace(problem, model=start.model), Unknowns(start.parameters, inertia=J)
    window = own.window(x, problem.records.first_window)
    found = own.evaluate(x, window)
    if isinstance(found, Failure):
        return found
    iterate = rule.iterate(problem, Unknowns(start.base, inertia=J), found, window)
    return replace(iterate, seconds=time.perf_counter() - began)
