"""`DIDIM`: the torque of a simulated loop made to agree with the recorded one, section IV, eq.
35-63, Figures 4 and 5.

Each step simulates the loop with chi^k and gains retuned for it (59), builds W from the simulated
states (47), and solves the linear least squares problem (48) for chi^(k+1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from didim.control.law import Controller
from didim.control.laws import OwnLaw
from didim.dynamics.model import BaseModel
from didim.errors import InputError, shortened
from didim.identification.initial import check_initial, start_of
from didim.identification.iteration import Progress, Search
from didim.identification.least_squares import check_weights
from didim.identification.loops import Loops, check_start
from didim.identification.refinement import Refinement
from didim.identification.task import Task
from didim.identification.trust import told_bias
from didim.results.estimate import Estimate
from didim.results.prediction import Recipe
from didim.results.provenance import provenance
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.validation import real, whole

WARM = 6
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
    """s cut at the start; None: 10 over the slowest closed-loop pole with friction, at least 5 /
    omega_n.
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
    """tol_2 of (34): change of a parameter over the larger of itself and fifty sigma: half a sigma
    at the default.
    """
    max_iterations: int = 20
    accelerate: bool = True
    """Whether small steps that repeat themselves are extrapolated to where they lead; False: every
    step as printed.
    """
    exact_interval: bool = True
    """Whether a last simulation with sensitivities gives intervals the exact Jacobian, and tells
    the contraction; it takes as long as a few steps.
    """
    refine: bool = False
    """Whether the exact method takes over, from DIDIM's point or from the prior, whichever is
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
        if self.transient is not None:
            object.__setattr__(
                self, "transient", real(self.transient, "DIDIM: transient, in s,", least=0.0)
            )
        for name in ("tol_residual", "tol_parameters"):
            object.__setattr__(self, name, real(getattr(self, name), f"DIDIM: {name}", above=0.0))
        object.__setattr__(
            self, "max_iterations", whole(self.max_iterations, "DIDIM: max_iterations", least=1)
        )
        if self.gain_update is not None and not isinstance(self.gain_update, bool):
            raise InputError(
                f"DIDIM: gain_update must be True, False or None, found {self.gain_update!r}."
            )
        if self.gain_update and not self.controller.by_poles and self.controller.inertia is None:
            raise InputError(
                "DIDIM: gain_update of a loop given by its gains needs the inertia that they were "
                "tuned for."
            )
        if not isinstance(self.accelerate, bool):
            raise InputError(
                f"DIDIM: accelerate must be True or False, found {shortened(self.accelerate)}."
            )
        for name in ("exact_interval", "refine", "estimate_gains", "scan"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(
                    f"DIDIM: {name} must be True or False, found {shortened(getattr(self, name))}."
                )
        if self.estimate_delay is not None and not isinstance(self.estimate_delay, bool):
            raise InputError(
                "DIDIM: estimate_delay must be True, False or None, found "
                f"{shortened(self.estimate_delay)}."
            )
        if isinstance(self.controller, OwnLaw) and (
            self.refine or self.estimate_gains or self.estimate_delay
        ):
            raise InputError(
                "DIDIM: exact sensitivities need a law that didim knows; OwnLaw is a closed box to "
                "them."
            )
        object.__setattr__(self, "start", check_start(self.start, "DIDIM"))
        _ = self.selection

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

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        self._loops(model, experiments).refuse_unusable()
        start_of(model, self.initial)

    def _loops(self, model: BaseModel, experiments: Sequence[Experiment]) -> Loops:
        fixed = (self.controller, self.selection, self.transient, self.start)
        return Loops(
            model,
            experiments,
            *fixed,
            estimate_gains=self.estimate_gains,
            estimate_delay=self.estimate_delay,
        )

    def run(
        self, model: BaseModel, experiments: Sequence[Experiment], progress: Progress | None = None
    ) -> Estimate:
        """Identify the base parameters of `model` from one or several experiments."""
        exact = self.refine or self.estimate_gains or bool(self.estimate_delay)
        loops = self._loops(model, experiments)
        origin = provenance(self, experiments)
        if not exact:
            return Search(self, model, loops.fresh(), origin).run(
                start_of(model, self.initial), progress
            )
        return self._refined(model, loops, origin, progress)

    def _refined(
        self, model: BaseModel, loops: Loops, origin: dict[str, Any], progress: Progress | None
    ) -> Estimate:
        """DIDIM, and the exact method from its point or from the prior."""
        recipe = Recipe(
            "simulated", self.selection, start=self.start, interpolation=loops.interpolation
        )
        loop = (
            replace(self.controller, inertia=None)
            if self.updates and self.controller.by_poles
            else self.controller
        )
        task = Task(
            "DIDIM",
            loop,
            self.estimate_gains,
            loops.shifts,
            self.scan,
            self.max_iterations,
            recipe,
            origin,
        )
        refinement = Refinement(task, model, loops.fresh)
        first = self._warm(refinement).run(start_of(model, self.initial), _part(progress, 0.0, 0.5))
        if "on request" in first.message:
            return first
        refinement.history = list(first.history)
        refined = refinement.run(
            [first.parameters] if np.isfinite(first.residual) else [], _part(progress, 0.5, 1.0)
        )
        return (
            refined if self.updates and not self.controller.by_poles else told_bias(first, refined)
        )

    def _warm(self, refinement: Refinement) -> Search:
        """The DIDIM that comes before: as set, or where gains are unknown a few steps in the best
        loop of the scan.
        """
        settings, loop = self, refinement.loops[0]
        if self.estimate_gains and loop is not None:
            most = min(self.max_iterations, WARM)
            settings = replace(self, controller=loop, gain_update=False, max_iterations=most)
        return Search(settings, refinement.model, refinement.fresh(), refinement.task.provenance)


def _part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Progress of one of two parts."""
    return None if progress is None else lambda share: progress(start + (end - start) * share)
