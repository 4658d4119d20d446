"""`OutputError`: the output error method of section III, eq. 21-34, with exact sensitivities.

The simulated output, position, torque or both, is made to agree with the recorded one, in the
robot's control loop (CLOE) or, without a controller, in open loop with the recorded torques as
input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import EstimatedGains, unknown_offsets
from didim.dynamics.model import BaseModel
from didim.identification.exact import ExactMethod
from didim.identification.exact_estimate import identify_exactly
from didim.identification.stopping import ShortStep
from didim.results.estimate import Estimate
from didim.results.output_error_settings import OUTPUTS, check_output_error, refuse_positions
from didim.results.prediction import Preprocessing
from didim.results.request import Request
from didim.results.start import start_of
from didim.signals.experiment import Experiment
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet
from didim.simulation.records import estimates_delay, record_set, refuse_saturated

Array = NDArray[np.float64]

PREDICTION_CUTOFF = 20.0
"""Hz, of the filter of measured positions with which a model found in open loop predicts other
records.
"""

SHORTEST_STEP = 1e-3
"""Squared length, in standard deviations, of the last step: wherever the iteration starts, it ends
within a small fraction of sigma.
"""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OutputError:
    """Output error with exact sensitivities, inside the physically consistent set."""

    controller: Controller | None
    """The loop that the robot was in; None: open loop, driven by the recorded torques."""
    output: str = "position"
    """What is compared: "position" (22), "torque" (35), or "both", each in units of its own
    error.
    """
    weights: str = "wls"
    """"wls": each joint and output by its error, or "irls", which trusts outlying rows less."""
    decimation: int = 20
    """n_d; 1: none."""
    decimate: str = "fir"
    """"matlab", "scipy" or "fir"; only the last keeps memory from growing with the record."""
    initial: str | Estimate | ArrayLike = "prior"
    """"prior", "unit" (63), "nominal", an `Estimate`, or base parameters (b,)."""
    estimate_gains: EstimatedGains = False
    """Whether the gains of the law that are not zero are unknowns as well."""
    estimate_delay: bool | None = None
    """Whether a common delay of the reference is one too; None: with the gains of a sampled law."""
    estimate_offsets: tuple[str, ...] = ()
    """Zeros of the joints ("zero" for all, "zero2" for one), added to logged positions and
    references, and biases ("bias"), by which the log reads more than the controller.
    """
    scan: bool | str = "auto"
    """Whether unknown gains are first looked for by a scan of the bandwidth; "auto": where gains
    are estimated.
    """
    transient: float | None = None
    """s cut at the start; None: 10 over the slowest closed-loop pole with friction; nothing in open
    loop.
    """
    rest_velocity: ArrayLike | None = None
    """Equations of a joint whose simulated velocity is below this are left out; None: none."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of the simulations, see `didim.simulate`; in open loop that of the measured
    positions.
    """
    max_iterations: int = 20
    barrier: bool = True
    """Whether steps stay inside the physically consistent set and must lower the error; False:
    plain Gauss-Newton with full steps and the tests (34), as printed, (29)-(34).
    """
    tol_residual: float = 1e-3
    """tol_1 of (34), without the barrier."""
    tol_parameters: float = 1e-2
    """tol_2 of (34), without the barrier."""
    lack_of_fit: bool = True
    """Whether tests for what the model or its loop lacks, as long as a few steps, end it."""

    def __post_init__(self) -> None:
        check_output_error(self)

    @property
    def selection(self) -> RowSelection:
        """How samples become rows."""
        return RowSelection(
            self.decimation, self.decimate, rest_velocity=self.rest_velocity, ends=False
        )

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that cannot be used."""
        self._records(model, experiments).refuse_unusable()
        self._start(model)
        if self.controller is not None and self.output == "position":
            refuse_saturated(model, self.controller, experiments)

    @property
    def _scans(self) -> bool:
        """Whether a scan comes first, which compares torques."""
        wanted = self.estimate_gains is True if self.scan == "auto" else bool(self.scan)
        return wanted and self.output != "position"

    def _start(self, model: BaseModel) -> Array | None:
        """(b,) where to start; None: the prior."""
        prior = isinstance(self.initial, str) and self.initial == "prior"
        return None if prior else start_of(model, self.initial).base

    def _shifts(self, experiments: Sequence[Experiment]) -> bool:
        settings = self.estimate_gains, self.estimate_delay
        return estimates_delay(self.controller, *settings, experiments)

    def _records(self, model: BaseModel, experiments: Sequence[Experiment]) -> RecordSet:
        outputs = OUTPUTS[self.output]
        if "q" in outputs:
            refuse_positions(model, experiments, self.output)
        settings = self.controller, self.selection, self.transient, self.start
        found = record_set(model, experiments, *settings, outputs, self._shifts(experiments))
        return replace(found, robust=self.weights == "irls")

    def run(self, request: Request) -> Estimate:
        """Identify the base parameters from one or several experiments."""
        model = request.model
        self.ready(model, request.experiments)
        records = self._records(model, request.experiments)
        preprocessing = Preprocessing(
            "simulated", self.selection, start=self.start, interpolation=records.interpolation
        )
        if self.controller is None:  # without a loop, other records are predicted from their motion
            preprocessing = Preprocessing("measured", self.selection, cutoff=PREDICTION_CUTOFF)
        data = self, model, records, self.controller, preprocessing
        exact = ExactMethod(
            "OutputError",
            *data,
            has_delay=self._shifts(request.experiments),
            scans=self._scans,
            offsets=unknown_offsets(self.estimate_offsets, model.robot.n),
            barrier=self.barrier,
            start=self._start(model),
            output="position" if self.output == "position" else "torque",
            stopping=ShortStep(SHORTEST_STEP, small_falls=4),
            settles_window=True,
        )
        return identify_exactly(exact, request)
