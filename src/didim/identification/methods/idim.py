"""`IDIM`: least squares on the inverse dynamic model and the measured motion, section II, eq. 7-20,
Fig. 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.identification.identify import assemble
from didim.identification.verdict import unexcited
from didim.regression.essential import essential
from didim.regression.identifiable import unidentifiable
from didim.regression.least_squares import check_weights, least_squares
from didim.regression.physical import physical_fit
from didim.regression.statistics import statistics
from didim.regression.torque_factors import torque_factors
from didim.results.estimate import Estimate
from didim.results.filtering import Filtering, checked_cutoff
from didim.results.plausibility import border_notes, implausible
from didim.results.request import Request
from didim.results.scale_doubts import MAX_FACTOR
from didim.results.settings import check_controller
from didim.results.status import Status, Verdict
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.simulation.records import record_notes, regular_records
from didim.structure.estimate_tests import measured_fit
from didim.validation import flag, one_of

Array = NDArray[np.float64]

STATES = ("measured", "reference")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class IDIM:
    """Filter the measured positions, differentiate them, and solve one linear least squares
    problem.
    """

    cutoff: float | str | None = "auto"
    """Hz, of the Butterworth filter of the positions, forward and backward; None: no filter
    (VI.D). "auto": chosen from the records; samples near the reversals of a joint with Coulomb
    friction then do not count, and noisy positions have the equations decimated further
    (`signals/bandwidth.py`, `signals/reversals.py`).
    """
    order: int = 4
    decimation: int = 20
    """n_d; 1: none."""
    decimate: str = "scipy"
    """"matlab", "scipy" or "fir"."""
    trim: tuple[int, int] | None = None
    """Samples cut at start and end, after differentiating and before decimating; None: what the
    filter spoils, two periods of its cutoff at both ends.
    """
    weights: str = "wls"
    """"ols" (15), "wls" (20) or "irls"."""
    rest_velocity: ArrayLike | None = None
    """Equations of a joint slower than this, rad/s or m/s, are left out; None: none."""
    states: str = "measured"
    """"measured", or "reference": the reference in place of the motion (VI.B)."""
    essential: bool = False
    """Whether to keep the essential parameters only."""
    consistent: bool = False
    """Whether the parameters must be those of a physical robot: least squares over the physically
    consistent set, with the same weights. Where plain least squares is inside, nothing changes.
    """
    lack_of_fit: bool = True
    """Whether tests for what the model or its loop lacks, as long as a few steps, end it."""
    controller: Controller | None = None
    """The loop that the robot was in, where it is known: the test of Durbin, Wu and Hausman
    simulates it. The estimate does not depend on it.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "cutoff", checked_cutoff(self.cutoff, "IDIM"))
        one_of(self.states, "IDIM: states", STATES)
        flag(self.essential, "IDIM: essential")
        flag(self.consistent, "IDIM: consistent")
        flag(self.lack_of_fit, "IDIM: lack_of_fit")
        if self.essential and self.consistent:
            raise InputError(
                "IDIM: essential sets parameters to zero that a physical robot has; choose "
                "essential or consistent."
            )
        if self.controller is not None:
            check_controller(self.controller, "IDIM")
        check_weights(self.weights)
        _ = self.selection

    @property
    def filtering(self) -> Filtering:
        """How records become equations."""
        names = ("cutoff", "order", "decimation", "decimate", "trim", "rest_velocity", "states")
        return Filtering(*(getattr(self, name) for name in names))

    @property
    def selection(self) -> RowSelection:
        """How samples become rows."""
        return self.filtering.selection

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        self.filtering.refuse_unusable(regular_records(model, experiments), "IDIM")

    def run(self, request: Request) -> Estimate:
        """Identify the base parameters from one or several experiments."""
        model, filtering = request.model, self.filtering
        records = regular_records(model, request.experiments)
        filtering.refuse_unusable(records, "IDIM")
        fitted = filtering.rows(model, records, request.held_out)
        first, told = fitted.observe(records)
        found = fitted.project(records, first, self.weights)
        model, system, solution = found.model, found.linear, found.solution
        request, fitted = replace(request, model=model), replace(fitted, model=model)
        chosen, joint, full, b = system, found.system, solution, len(system.names)
        notes = [*record_notes(records), *told]
        removed: tuple[str, ...] = ()
        if self.essential:
            kept = essential(system, solution.row_weights)
            chosen = joint = system.only(kept.kept)
            solution, removed = least_squares(chosen, solution.row_weights), kept.removed
            notes.append(kept.note)
        nonlinear = model.loaded or bool(model.free_shapes)
        way = "Variable projection" if nonlinear else "One linear least squares solution"
        ending = f"{way} ({self.weights.upper()})."
        lacks = unidentifiable(model, found.system, full, filtering.motions(records))
        verdict = unexcited(lacks) or Verdict(Status.CONVERGED, ending)
        jacobian = None
        if model.loaded and not self.essential:
            by_chi = fitted.jacobian(records, solution.values[:b])
            jacobian = np.column_stack([by_chi, joint.W[:, b:]])
        figures = statistics(joint, solution, jacobian=jacobian)
        plain_values = solution.values[: len(chosen.names)]
        inside = None
        if self.consistent:
            inside = physical_fit(model, system, replace(full, values=plain_values))
        values = plain_values if inside is None else model.matrix @ inside
        residual = fitted.residual(records, chosen, values)
        sigma = np.sqrt(np.diag(figures.covariance))[: values.size]
        at_border: tuple[str, ...] = ()
        if inside is not None:
            corrected = np.sqrt(np.maximum(np.diag(figures.corrected), 0.0))[: values.size]
            plain = fitted.residual(records, chosen, plain_values)
            at_border, told = border_notes(
                model, plain_values, values, corrected, plain[0], residual[0]
            )
            notes += told
        without_rest = self.rest_velocity is not None
        notes += implausible(model, chosen.names, values, sigma, residual[1], without_rest)
        request.tell(1.0)
        return assemble(
            request,
            "IDIM",
            self,
            verdict,
            fitted.preprocessing,
            values,
            figures,
            residual,
            names=chosen.names,
            notes=notes,
            residual_over_noise=fitted.residual_over_noise(records, chosen, plain_values),
            shapes=found.shapes(figures),
            eliminated=removed,
            at_border=at_border,
            standard=inside,
            plain=None if inside is None else plain_values,
            factors=None
            if model.free_shapes
            else torque_factors(joint, solution, solution.values, MAX_FACTOR),
            fit=measured_fit(fitted, records, chosen, solution, values, self.controller),
        )
