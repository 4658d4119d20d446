"""`DIDIM`: the torque of a simulated loop made to agree with the recorded one, section IV, eq.
35-63, Figures 4 and 5.

Each step simulates the loop with chi^k and gains retuned for it (59), builds W from the simulated
states (47), and solves the linear least squares problem (48) for chi^(k+1).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.control.simulated_loop import SimulatedLoop
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.exact import ExactMethod
from didim.identification.identify import Request, assemble, check_settings
from didim.identification.initial import Start, check_initial, start_of
from didim.identification.problem import ClosedLoopProblem, Unknowns
from didim.identification.rules import Iterate
from didim.identification.rules.regressor import RegressorRule
from didim.identification.search import Halving
from didim.identification.solve import Outcome, solve
from didim.identification.stopping import STOPPING, InSigma, Never, Printed
from didim.identification.verdict import (
    Evidence,
    Verdict,
    judge,
    unexcited,
)
from didim.regression.identifiable import stationary_joints
from didim.regression.least_squares import check_weights
from didim.regression.statistics import convergence_rate, statistics
from didim.regression.torque_factors import torque_factors
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label
from didim.results.prediction import Preprocessing, relative_residual
from didim.results.scale_doubts import MAX_FACTOR
from didim.results.status import Failure, FailureKind, Status, StopReason
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet
from didim.simulation.records import estimates_delay, record_notes, record_set
from didim.validation import flag, one_of

Array = NDArray[np.float64]

WARM_START_STEPS = 6
"""Steps of DIDIM before the exact method where the gains are unknown."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DIDIM:
    """Direct and inverse dynamic identification models: torque and reference are enough, positions
    are not used.
    """

    controller: Controller
    """The loop that the robot was in, as well as it is known."""
    decimation: int = 20
    """n_d; 1: none."""
    decimate: str = "fir"
    """"matlab", "scipy" or "fir"."""
    initial: str | Estimate | ArrayLike = "unit"
    """"identity" (61), "unit" (63), "nominal", an `Estimate`, or base parameters (b,)."""
    gain_update: bool | None = None
    """Whether gains follow J(chi^k) (59); None: for loops given by poles, not for loops given by
    their gains.
    """
    weights: str = "wls"
    """"ols" (15), "wls" (20) or "irls"."""
    transient: float | None = None
    """s cut at the start; None: 10 over the slowest closed-loop pole with friction, at least
    5 / omega_n.
    """
    rest_velocity: ArrayLike | None = None
    """Equations of a joint whose simulated velocity is below this are left out; None: none."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of the simulations: None: that of the reference; "tracking": behind it by the
    loop's lag; or (q, dq).
    """
    tol_residual: float = 1e-3
    """tol_1 of (34): relative change of the torque error."""
    tol_parameters: float = 1e-2
    """tol_2 of (34): relative change of a parameter; with stopping "sigma" over the larger of
    itself and fifty sigma, half a sigma at the default.
    """
    max_iterations: int = 20
    guards: bool = True
    """Whether steps are kept feasible: friction not negative, M(q) positive definite, halved where
    the simulation fails or the torque error rises. False: every iterate as least squares gives it.
    """
    stopping: str = "sigma"
    """"sigma": (34) on the next step, on the scale of at least fifty sigma; "printed": (34) in
    absolute value, on the step that was made.
    """
    accelerate: bool = True
    """Whether small steps that repeat themselves are extrapolated to where they lead; False: every
    step as printed.
    """
    exact_interval: bool = True
    """Whether a last simulation with sensitivities gives intervals the exact Jacobian, and the
    convergence rate; it takes as long as a few steps.
    """
    refine: bool = False
    """Whether the exact method takes over, from DIDIM's parameters or from the prior, whichever is
    better.
    """
    estimate_gains: bool = False
    """Whether the gains of the law that are not zero are unknowns as well; implies `refine`."""
    estimate_delay: bool | None = None
    """Whether a common delay of the reference is one too; implies `refine`. None: with the gains of
    a sampled law.
    """
    scan: bool = True
    """Whether unknown gains are first looked for by a scan of the bandwidth."""

    def __post_init__(self) -> None:
        if not isinstance(self.controller, Controller):
            raise InputError(
                "DIDIM: controller must be a loop such as didim.PD, found "
                f"{type(self.controller).__name__}."
            )
        check_initial(self.initial)
        check_weights(self.weights)
        one_of(self.stopping, "DIDIM: stopping", STOPPING)
        check_settings(self, "DIDIM")
        for name in ("guards", "accelerate", "exact_interval", "refine", "scan"):
            flag(getattr(self, name), f"DIDIM: {name}")
        flag(self.gain_update, "DIDIM: gain_update", optional=True)
        if self.gain_update and not self.controller.by_poles and self.controller.inertia is None:
            raise InputError(
                "DIDIM: gain_update of a loop given by its gains needs the inertia that they were "
                "tuned for."
            )
        if isinstance(self.controller, OwnLaw) and self._is_refined:
            raise InputError(
                "DIDIM: exact sensitivities need a law that didim knows; an OwnLaw has none."
            )

    @property
    def selection(self) -> RowSelection:
        """How samples become rows."""
        return RowSelection(
            self.decimation, self.decimate, rest_velocity=self.rest_velocity, ends=False
        )

    @property
    def updates(self) -> bool:
        """Whether the gains follow the parameters (59)."""
        return self.controller.by_poles if self.gain_update is None else bool(self.gain_update)

    @property
    def _is_refined(self) -> bool:
        return self.refine or self.estimate_gains or bool(self.estimate_delay)

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        self._records(model, experiments).refuse_unusable()
        start_of(model, self.initial)

    def _shifts(self, experiments: Sequence[Experiment]) -> bool:
        settings = self.estimate_gains, self.estimate_delay
        return estimates_delay(self.controller, *settings, experiments)

    def _records(self, model: BaseModel, experiments: Sequence[Experiment]) -> RecordSet:
        settings = self.controller, self.selection, self.transient, self.start
        return record_set(model, experiments, *settings, shifts=self._shifts(experiments))

    def run(self, request: Request) -> Estimate:
        """Identify the base parameters from one or several experiments."""
        records = self._records(request.model, request.experiments)
        if self._is_refined:
            return self._refined(request, records)
        estimate, _ = self._iterated(request, records)
        return estimate

    def _preprocessing(self, records: RecordSet) -> Preprocessing:
        return Preprocessing(
            "simulated", self.selection, start=self.start, interpolation=records.interpolation
        )

    def _iterated(self, request: Request, records: RecordSet) -> tuple[Estimate, StopReason | None]:
        """DIDIM: the rule of the regressor (48), from the start that the settings name."""
        model, notes = request.model, list(record_notes(records.records))
        loop = SimulatedLoop(self.controller, self.updates)
        problem = ClosedLoopProblem(model, records, loop)
        rule = RegressorRule(self.weights, self.guards, self.guards, self.guards, self.accelerate)
        start = start_of(model, self.initial)
        if verdict := unexcited(stationary_joints(model, records.references)):
            return self._failed(request, records, start, verdict), None
        first = started(problem, rule, start)
        if isinstance(first, Failure) and isinstance(self.initial, str) and self.initial == "unit":
            first = started(problem, rule, start_of(model, "identity"))
            notes.append('The simulation from "unit" (63) failed; started from "identity" (61).')
        if isinstance(first, Failure):
            verdict = Verdict(
                Status.DIVERGED,
                f"The first simulation, with chi^0, fails: {first.detail.rstrip('.')}. Check the "
                "loop's gains, rate and drive gain, or start elsewhere (initial=).",
            )
            return self._failed(request, records, start, verdict), None
        tests = InSigma if self.stopping == "sigma" else Printed
        stopping = tests(self.tol_residual, self.tol_parameters)
        search = Halving() if self.guards else Halving(0)
        limit = self.max_iterations
        outcome = solve(problem, rule, search, stopping, first, limit, request.progress)
        request.tell(1.0)
        return self._finished(request, problem, outcome, notes), outcome.reason

    def _finished(
        self, request: Request, problem: ClosedLoopProblem, outcome: Outcome, notes: list[str]
    ) -> Estimate:
        """The estimate at the last iterate, judged."""
        at, model, records = outcome.iterate, request.model, problem.records
        system, solution, history = at.equations, at.solution, list(outcome.history)
        assert solution is not None
        settled, jacobian = outcome.reason.status is Status.CONVERGED, None
        if settled and self.exact_interval:
            jacobian = self._exact_jacobian(problem, at)
        if jacobian is not None:
            rate = convergence_rate(solution, system, jacobian)
            history[-1] = replace(history[-1], convergence_rate=rate)
        error_at = partial(self._error_at, problem, at)
        evidence = Evidence(problem, outcome, solution, error_at)
        verdict = judge(evidence)
        rho = system.residual(at.x.base)
        return assemble(
            request,
            "DIDIM",
            self,
            verdict,
            replace(self._preprocessing(records), transient=at.window.transient),
            at.x.base,
            statistics(system, solution, at.x.base, jacobian),
            relative_residual(rho, system.y, system.joint, model.robot.n),
            controller=at.controller,
            notes=(*notes, *records.notes, *records.window_notes(at.window)),
            residual_over_noise=evidence.over_noise,
            iterations=outcome.steps,
            history=tuple(history),
            factors=torque_factors(system, solution, at.x.base, MAX_FACTOR) if settled else None,
        )

    def _exact_jacobian(self, problem: ClosedLoopProblem, at: Iterate) -> Array | None:
        """How the torque changes with the parameters (r, b); None where it is not known.

        Gains of a loop given by poles follow the parameters (59), which is included; own gains that
        are retuned count as fixed.
        """
        loop = at.controller
        assert loop is not None
        if self.updates and loop.by_poles:
            loop = replace(loop, inertia=None)
        exact = replace(problem, loop=SimulatedLoop(loop))
        found = exact.linearise(Unknowns(at.x.base), at.window)
        return None if isinstance(found, Failure) else found[1].W

    def _error_at(self, problem: ClosedLoopProblem, at: Iterate, factor: float) -> float:
        """The torque error, rms over the joints, after one step in a loop of another bandwidth;
        infinite where there is none.
        """
        if isinstance(self.controller, OwnLaw):
            return np.inf
        other = replace(problem, loop=problem.loop.faster(factor))
        rule = RegressorRule(self.weights, True, False, False, False, moves_window=False)
        first = other.evaluate(at.x, at.window)
        if isinstance(first, Failure):
            return np.inf
        start = rule.iterate(other, at.x, first, at.window)
        outcome = solve(other, rule, Halving(0), Never(), start, 1)
        return min(first.rms, outcome.iterate.evaluation.rms)

    def _failed(
        self, request: Request, records: RecordSet, start: Start, verdict: Verdict
    ) -> Estimate:
        """Nothing was identified."""
        preprocessing, controller = self._preprocessing(records), self.controller
        notes = record_notes(records.records)
        end = verdict, preprocessing, start.base
        return assemble(request, "DIDIM", self, *end, controller=controller, notes=notes)

    def _refined(self, request: Request, records: RecordSet) -> Estimate:
        """DIDIM, and the exact method from its parameters or from the prior."""
        loop, gains = self.controller, self.estimate_gains
        if self.updates and loop.by_poles:
            loop = replace(loop, inertia=None)
        shifts, preprocessing = self._shifts(request.experiments), self._preprocessing(records)
        data = request.model, records
        exact = ExactMethod("DIDIM", self, *data, loop, preprocessing, shifts, self.scan)
        warm, first_loop = self, exact.loops[0]
        if gains and first_loop is not None:
            steps = min(self.max_iterations, WARM_START_STEPS)
            warm = replace(self, controller=first_loop, gain_update=False, max_iterations=steps)
        stage = request.without_validation().between(0.0, 0.5)
        first, reason = warm._iterated(stage, records)
        if reason is StopReason.REQUEST:
            return first
        others = [first.parameters] if np.isfinite(first.residual) else []
        biased = not (self.updates and not self.controller.by_poles)
        compare_with = first if biased and first.status is Status.CONVERGED else None
        return exact.run(request.between(0.5, 1.0), others, first.history, compare_with)


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
