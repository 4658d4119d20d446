"""`DIDIM`: the torque of a simulated loop made to agree with the recorded one, section IV, eq.
35-63, Figures 4 and 5.

Each step simulates the loop with chi^k and gains retuned for it (59), builds W from the simulated
states (47), and solves the linear least squares problem (48) for chi^(k+1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.control.simulated_loop import EstimatedGains
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.best_run import from_good_prior, is_explained
from didim.identification.exact import ExactMethod
from didim.identification.exact_estimate import identify_exactly
from didim.identification.regressor_method import Iterated, RegressorMethod
from didim.identification.search import FEW_HALVINGS, Halving
from didim.identification.stopping import STOPPING
from didim.regression.least_squares import check_weights
from didim.results.estimate import Estimate
from didim.results.prediction import Preprocessing
from didim.results.request import Request
from didim.results.settings import check_loop, check_settings, follows_inertia
from didim.results.start import start_of
from didim.results.status import Status, StopReason, Verdict
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet
from didim.simulation.records import estimates_delay, record_set
from didim.validation import flag, one_of

Array = NDArray[np.float64]

FIRST_STAGE_STEPS, WARM_START_STEPS = 10, 6
"""Most steps of DIDIM before the exact method where the gains are known, and where not."""


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
    better. It always does where effects have shapes to be estimated.
    """
    estimate_gains: EstimatedGains = False
    """Which gains of the law are unknowns as well, all or ("kiv", "kp1"); implies `refine`."""
    estimate_delay: bool | None = None
    """Whether a common delay of the reference is one too; implies `refine`. None: with the gains of
    a sampled law.
    """
    scan: bool = True
    """Whether unknown gains are first looked for by a scan of the bandwidth."""
    lack_of_fit: bool = True
    """Whether tests for what the model or its loop lacks, as long as a few steps, end it."""

    def __post_init__(self) -> None:
        check_loop(self, "DIDIM")
        check_weights(self.weights)
        one_of(self.stopping, "DIDIM: stopping", STOPPING)
        check_settings(self, "DIDIM")
        for name in ("guards", "accelerate", "exact_interval", "refine", "scan"):
            flag(getattr(self, name), f"DIDIM: {name}")
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
        return follows_inertia(self)

    @property
    def _is_refined(self) -> bool:
        return bool(self.refine or self.estimate_gains or self.estimate_delay)

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
        if self._is_refined or request.model.layout.terms.free:
            return self._refined(request, records)
        return RegressorMethod(self, records, self._preprocessing(records)).run(request)

    def _preprocessing(self, records: RecordSet) -> Preprocessing:
        return Preprocessing(
            "simulated", self.selection, start=self.start, interpolation=records.interpolation
        )

    def _refined(self, request: Request, records: RecordSet) -> Estimate:
        """DIDIM, and the exact method from its parameters or from the prior."""
        loop = self.controller
        if self.updates and loop.by_poles:
            loop = replace(loop, inertia=None)
        shifts, preprocessing = self._shifts(request.experiments), self._preprocessing(records)
        data = request.model, records
        exact = ExactMethod("DIDIM", self, *data, loop, preprocessing, shifts, self.scan)
        early, begun = request.between(0.0, 0.5), None
        if isinstance(self.initial, str):
            begun = from_good_prior(exact, early.progress)
        if begun is not None and is_explained(exact, *begun):
            return identify_exactly(exact, request, begun=begun)
        middle = 0.0 if begun is None else 0.5
        rest = request.between(0.5 + middle / 2, 1.0)
        stage = request.first_stage().between(middle, 0.5 + middle / 2)
        coarse, found = self._first_stage(stage, exact)
        _, end, _ = found
        if isinstance(end, Verdict):
            return identify_exactly(exact, rest, begun=begun)
        if end.reason is StopReason.REQUEST and begun is not None:
            stopped = begun[0], replace(begun[1], reason=StopReason.REQUEST)
            return identify_exactly(exact, request, begun=stopped)
        if end.reason is StopReason.REQUEST:
            return coarse.estimate(stage, found)
        base, history, first = end.iterate.x.base, end.history, None
        if end.reason.status is Status.CONVERGED and (not self.updates or self.controller.by_poles):
            first = coarse.estimate(stage, found)  # its bias is told
            history = first.history
        del found, end  # long records have no room for it
        return identify_exactly(exact, rest, [base], history, first, begun)

    def _first_stage(
        self, request: Request, exact: ExactMethod
    ) -> tuple[RegressorMethod, Iterated]:
        """DIDIM for a few steps, which leads to a better start."""
        loop, steps = exact.loops[0], min(self.max_iterations, FIRST_STAGE_STEPS)
        warm, is_known = replace(self, max_iterations=steps), True
        if self.estimate_gains and loop is not None:
            steps, is_known = min(steps, WARM_START_STEPS), False
            warm = replace(self, controller=loop, gain_update=False, max_iterations=steps)
        records, search = exact.records, Halving(FEW_HALVINGS)
        coarse = RegressorMethod(warm, records.not_stiff, exact.preprocessing, search)
        found = coarse.iterated(request)
        if is_known and isinstance(found[1], Verdict):  # a robot that is stiff at its start
            coarse = replace(coarse, records=records)
            found = coarse.iterated(request)
        return coarse, found
