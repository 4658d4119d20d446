"""`IDIM`: least squares on the inverse dynamic model and the measured motion, section II, eq. 7-20,
Fig. 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from didim.dynamics.model import BaseModel
from didim.errors import InputError, nearest
from didim.identification.assemble import assembled
from didim.identification.essential import essential
from didim.identification.least_squares import Solution, check_weights, estimate, solve
from didim.identification.record import prepared, record_notes
from didim.identification.system import LinearSystem, observe, stack
from didim.identification.verdict import implausible, unexcited
from didim.results.estimate import Estimate
from didim.results.prediction import Recipe
from didim.results.provenance import provenance
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.signals.states import measured_positions, measured_states, reference_states, still_joints
from didim.validation import real

STATES = ("measured", "reference")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class IDIM:
    """Filter the measured positions, differentiate them, and solve one linear least squares
    problem.
    """

    cutoff: float | None = 20.0
    """Hz, of the Butterworth filter of the positions, forward and backward; None: no filter
    (VI.D).
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

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            object.__setattr__(self, "cutoff", real(self.cutoff, "IDIM: cutoff, in Hz,", above=0.0))
        if not isinstance(self.states, str) or self.states not in STATES:
            raise InputError(
                f"IDIM: unknown states {self.states!r}; {nearest(str(self.states), STATES)}"
            )
        if not isinstance(self.essential, bool):
            raise InputError(f"IDIM: essential must be True or False, found {self.essential!r}.")
        check_weights(self.weights)
        _ = self.recipe

    @property
    def recipe(self) -> Recipe:
        """How records become rows."""
        selection = RowSelection(
            self.decimation,
            self.decimate,
            self.trim or (0, 0),
            self.rest_velocity,
            self.trim is not None,
        )
        return Recipe(self.states, selection, self.cutoff, self.order)

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        for record in prepared(model, experiments):
            self._window(record)
            if self.states == "reference":
                record.reference()
            else:
                measured_positions(record)

    def run(
        self, model: BaseModel, experiments: Sequence[Experiment], progress: object = None
    ) -> Estimate:
        """Identify the base parameters of `model` from one or several experiments."""
        del progress
        records = prepared(model, experiments)
        system = stack([self._observe(model, record, k) for k, record in enumerate(records)])
        full = solution = estimate(system, self.weights)
        chosen, notes = system, list(record_notes(records))
        removed: tuple[str, ...] = ()
        if self.essential:
            found = essential(system, solution.row_weights)
            chosen, removed = system.only(found.kept), found.removed
            solution = solve(chosen, solution.row_weights)
            notes.append(
                f"{len(removed)} of {len(system.names)} parameters are not essential and were set "
                "to zero; the residual went "
                f"from {100 * found.residual_before:.4g} % to {100 * found.residual_after:.4g} %."
            )
        status, message = self._verdict(model, records, full, system)
        notes += implausible(model, chosen, solution)
        return assembled(
            model,
            "IDIM",
            chosen,
            solution,
            solution.values,
            status=status,
            message=message,
            recipe=self.recipe,
            eliminated=removed,
            notes=tuple(notes),
            provenance=provenance(self, experiments),
        )

    def _observe(self, model: BaseModel, record: Experiment, series: int) -> LinearSystem:
        """The linear system of one record (13)."""
        states = (
            reference_states(record)
            if self.states == "reference"
            else measured_states(record, self.cutoff, self.order)
        )
        return observe(
            model,
            states,
            np.asarray(record.tau),
            self.recipe.selection,
            self._window(record),
            series,
        )

    def _window(self, record: Experiment) -> tuple[int, int]:
        """The samples that are used."""
        t = np.asarray(record.t)
        return self.recipe.selection.window(t, edge=self.recipe.edge(t) if self.trim is None else 0)

    def _verdict(
        self,
        model: BaseModel,
        records: Sequence[Experiment],
        solution: Solution,
        system: LinearSystem,
    ) -> tuple[str, str]:
        """Status and message."""
        if self.states == "reference":
            moved = [record.reference().sample(record.t)[0] for record in records]
        else:
            moved = [
                np.where(still_joints(q := np.asarray(record.q)), 0.0, q) for record in records
            ]
        if (lacks := unexcited(model, system, solution, moved)) is not None:
            return "unexcited", lacks
        return "converged", f"One linear least squares solution ({self.weights.upper()})."
