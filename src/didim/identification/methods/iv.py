"""`IV`: IDIM with instrumental variables, by A. Janot, P.-O. Vandanjon and M. Gautier (2014).

W is that of the measured, filtered motion, as in IDIM. Each step simulates the loop with chi^k and
gains retuned for it (59), as in DIDIM; the regressor of that motion is the instruments Z, and
chi^(k+1) = (Z' W)^-1 Z' Y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.evidence import Evidence
from didim.identification.identify import assemble
from didim.identification.problem import ClosedLoopProblem
from didim.identification.regressor_method import iterated
from didim.identification.rules.regressor import RegressorRule
from didim.identification.solve import Outcome
from didim.identification.verdict import judge
from didim.regression.instruments import INSTRUMENT_WEIGHTS
from didim.results.estimate import Estimate
from didim.results.filtering import Filtering, checked_cutoff
from didim.results.instruments import Instruments
from didim.results.request import Request
from didim.results.settings import check_iteration, check_loop, follows_inertia
from didim.results.start import start_of
from didim.results.status import Verdict
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet
from didim.simulation.records import record_set
from didim.structure.estimate_tests import Fit
from didim.validation import one_of


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class IV:
    """The measured motion as in IDIM, with instruments from the simulated loop: noise in the
    positions and a poor filter bias it little. It needs positions, torques, reference and loop.
    """

    controller: Controller
    """The loop that the robot was in, as well as it is known."""
    cutoff: float | str | None = "auto"
    """Hz, of the filter of the positions; None: none; "auto": from the records, as `IDIM`."""
    order: int = 4
    decimation: int = 20
    """n_d; 1: none."""
    decimate: str = "scipy"
    """"matlab", "scipy" or "fir"."""
    trim: tuple[int, int] | None = None
    """Samples cut at start and end; None: what the filter spoils."""
    weights: str = "wls"
    """"ols", or "wls": each joint by what a first solution leaves of it."""
    rest_velocity: ArrayLike | None = None
    """Equations of a joint slower than this, rad/s or m/s, are left out; None: none."""
    initial: str | Estimate | ArrayLike = "unit"
    """"identity" (61), "unit" (63), "nominal", an `Estimate`, or base parameters (b,)."""
    gain_update: bool | None = None
    """Whether gains follow J(chi^k) (59); None: for loops given by poles."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of the simulations: None: that of the reference; "tracking"; or (q, dq)."""
    tol_residual: float = 1e-3
    """tol_1 of (34)."""
    tol_parameters: float = 1e-2
    """tol_2 of (34), over the larger of the parameter and fifty sigma."""
    max_iterations: int = 20
    lack_of_fit: bool = True
    """Whether tests for what the model lacks, as long as a few steps, end it."""

    guards: ClassVar[bool] = True
    stopping: ClassVar[str] = "sigma"

    def __post_init__(self) -> None:
        check_loop(self, "IV")
        object.__setattr__(self, "cutoff", checked_cutoff(self.cutoff, "IV"))
        one_of(self.weights, "IV: weights", INSTRUMENT_WEIGHTS)
        check_iteration(self, "IV")

    @property
    def filtering(self) -> Filtering:
        """How records become equations."""
        names = ("cutoff", "order", "decimation", "decimate", "trim", "rest_velocity")
        given = {name: getattr(self, name) for name in names}
        return Filtering(**given, has_instruments=True)

    @property
    def selection(self) -> RowSelection:
        """How samples become rows."""
        return self.filtering.selection

    @property
    def updates(self) -> bool:
        """Whether the gains follow the parameters (59)."""
        return follows_inertia(self)

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        self._records(model, experiments)

    def _records(self, model: BaseModel, experiments: Sequence[Experiment]) -> RecordSet:
        found = record_set(model, experiments, self.controller, self.selection, None, self.start)
        found.refuse_unusable()
        self.filtering.refuse_unusable(found.records, "IV")
        start_of(model, self.initial)
        if model.free_shapes:
            raise InputError(
                f"IV: the torque is not linear in {', '.join(model.free_shapes)}; give values "
                "(shapes = ...), or use IDIM or DIDIM, which estimate them."
            )
        return found

    def run(self, request: Request) -> Estimate:
        """Identify the base parameters from one or several experiments."""
        records = self._records(request.model, request.experiments)
        fitted = self.filtering.rows(request.model, records.records, request.held_out)
        how = replace(fitted.preprocessing, start=self.start)
        instruments = Instruments(replace(fitted, preprocessing=how), records.records, self.weights)
        rule = RegressorRule(error_guard=False, accelerate=False, instruments=instruments)
        records = replace(records, selection=how.selection)
        problem, outcome, notes = iterated(self, records, rule, request)
        if isinstance(outcome, Verdict):
            end = outcome, how, start_of(request.model, self.initial).base
            return assemble(request, "IV", self, *end, controller=self.controller, notes=notes)
        return self._finished(request, problem, outcome, instruments, notes)

    def _finished(
        self,
        request: Request,
        problem: ClosedLoopProblem,
        outcome: Outcome,
        instruments: Instruments,
        notes: list[str],
    ) -> Estimate:
        """The estimate at the last iterate, judged."""
        at, records, values = outcome.iterate, problem.records, outcome.iterate.x.base
        assert at.solution is not None
        evidence = Evidence(problem, outcome, at.solution, lambda _: np.inf, needs_loop=False)
        end = instruments.ending(at.equations.W, at.solution, values)
        rows = at.solution.weights, end.system.residual(values), records.records, values
        return assemble(
            request,
            "IV",
            self,
            judge(evidence),
            instruments.fitted.preprocessing,
            values,
            end.figures,
            end.residual,
            controller=at.controller,
            notes=(*notes, *records.notes, *end.notes),
            residual_over_noise=end.residual_over_noise,
            iterations=outcome.steps,
            history=outcome.history,
            fit=Fit(end.system, *rows, at.evaluation.motions, None, instruments),
        )
