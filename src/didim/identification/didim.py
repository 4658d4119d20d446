"""`DIDIM`: the torque of a simulated loop made to agree with the recorded one, section IV, eq. 35-63, Figures 4 and 5.

Each step simulates the loop with chi^k and gains retuned for it (59), builds W from the simulated states (47), and solves the
linear least squares problem (48) for chi^(k+1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from didim.control.law import Controller
from didim.door import real, whole
from didim.dynamics.model import BaseModel
from didim.errors import InputError, shortened
from didim.identification.closed_loop import ClosedLoop
from didim.identification.initial import check_initial, start_of
from didim.identification.iteration import Progress, Search
from didim.identification.least_squares import check_weights
from didim.identification.record import prepared
from didim.results.estimate import Estimate
from didim.results.provenance import provenance
from didim.signals.experiment import Experiment
from didim.signals.reference import Course
from didim.signals.resample import period_of
from didim.signals.rows import Selection

MOST_STEPS = 5e6
"""Samples of the control loop in one record, beyond which something is wrong with its clock."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DIDIM:
    """Direct and inverse dynamic identification models: torque and reference are enough, positions are not used."""

    controller: Controller
    """The loop that the robot was in, as well as it is known."""
    decimation: int = 20
    """n_d; 1: none."""
    decimate: str = "fir"
    """"matlab", "scipy" or "fir"."""
    initial: str | Estimate | ArrayLike = "unit"
    """"identity" (61), "unit" (63), "nominal", an `Estimate`, or base parameters (b,)."""
    gain_update: bool | None = None
    """Whether gains follow J(chi^k) (59); None: for loops given by poles, not for loops given by their gains."""
    weights: str = "wls"
    """"ols" (15), "wls" (20) or "irls"."""
    transient: float | None = None
    """s cut at the start; None: 10 over the slowest closed-loop pole with friction, at least 5 / omega_n."""
    rest_velocity: ArrayLike | None = None
    """Equations of a joint whose simulated velocity is below this are left out; None: none."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of the simulations: None: that of the reference; "tracking": behind it by the loop's lag; or (q, dq)."""
    tol_residual: float = 1e-3
    """tol_1 of (34): relative change of the torque error."""
    tol_parameters: float = 1e-2
    """tol_2 of (34): change of a parameter over the larger of itself and fifty sigma: half a sigma at the default."""
    max_iterations: int = 20
    accelerate: bool = True
    """Whether small steps that repeat themselves are extrapolated to where they lead; False: every step as printed."""

    def __post_init__(self) -> None:
        if not isinstance(self.controller, Controller):
            raise InputError(f"DIDIM: controller must be a loop such as didim.PD, found {type(self.controller).__name__}.")
        check_initial(self.initial)
        check_weights(self.weights)
        if self.transient is not None:
            object.__setattr__(self, "transient", real(self.transient, "DIDIM: transient, in s,", least=0.0))
        for name in ("tol_residual", "tol_parameters"):
            object.__setattr__(self, name, real(getattr(self, name), f"DIDIM: {name}", above=0.0))
        object.__setattr__(self, "max_iterations", whole(self.max_iterations, "DIDIM: max_iterations", least=1))
        if self.gain_update is not None and not isinstance(self.gain_update, bool):
            raise InputError(f"DIDIM: gain_update must be True, False or None, found {self.gain_update!r}.")
        if self.gain_update and not self.controller.by_poles and self.controller.inertia is None:
            raise InputError("DIDIM: gain_update of a loop given by its gains needs the inertia that they were tuned for.")
        if not isinstance(self.accelerate, bool):
            raise InputError(f"DIDIM: accelerate must be True or False, found {shortened(self.accelerate)}.")
        self._check_start()
        _ = self.selection

    def _check_start(self) -> None:
        if self.start is None or (isinstance(self.start, str) and self.start == "tracking"):
            return
        try:
            q, dq = (np.atleast_1d(np.asarray(each, dtype=float)) for each in self.start)
        except (TypeError, ValueError):
            raise InputError(
                f'DIDIM: start must be None, "tracking" or a pair (q, dq) at the first sample, found {shortened(self.start)}.'
            ) from None
        object.__setattr__(self, "start", (q, dq))

    @property
    def selection(self) -> Selection:
        """How samples become rows."""
        return Selection(self.decimation, self.decimate, rest_velocity=self.rest_velocity, ends=False)

    @property
    def updates(self) -> bool:
        """Whether the gains follow the parameters (59)."""
        return self.controller.by_poles if self.gain_update is None else bool(self.gain_update)

    def run(self, model: BaseModel, experiments: Sequence[Experiment], progress: Progress | None = None) -> Estimate:
        """Identify the base parameters of `model` from one or several experiments."""
        records = prepared(model, experiments, self._interpolation(experiments))
        self._refuse_endless(records)
        arrays = [each for each in experiments if each.q_ref is not None and not isinstance(each.q_ref, Course)]
        loop = ClosedLoop(records, self.selection, self.transient, self.start, self._interpolation(experiments))
        if arrays and self.controller.rate is not None and loop.interpolation != "held":
            loop.notes.append(
                f"The clock of the log does not meet that of the loop ({self.controller.rate:g} Hz): the reference was "
                "interpolated by cubics. Give a didim.Reference to choose otherwise."
            )
        return Search(self, model, loop, provenance(self, experiments)).run(start_of(model, self.initial), progress)

    def _refuse_endless(self, records: Sequence[Experiment]) -> None:
        """A log in milliseconds would be simulated for a thousand times as long."""
        for record in records:
            t = np.asarray(record.t)
            steps = (t[-1] - t[0]) * (self.controller.rate or 1.0 / max(period_of(t), 1e-3))
            if steps > MOST_STEPS:
                raise InputError(
                    f"Experiment {record.name!r} lasts {t[-1] - t[0]:.4g} s, {steps:.2g} samples of the control loop. "
                    "Is t in seconds? If it is, split the record."
                )

    def _interpolation(self, experiments: Sequence[Experiment]) -> str:
        """Of references on t: held where each sample of the law meets a sample of the log, else cubic."""
        if self.controller.rate is None:
            return "cubic"
        ratios = [1.0 / (period_of(np.asarray(each.t)) * self.controller.rate) for each in experiments]
        return "held" if all(ratio > 0.9 and abs(ratio - round(ratio)) < 0.01 for ratio in ratios) else "cubic"
