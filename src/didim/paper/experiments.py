"""Section VI on a virtual SCARA: DIDIM runs as printed, and guarded beside it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.laws import PD
from didim.control.tuning import largest_inertias
from didim.identification.identify import identify
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.paper.virtual_scara import LOW_RATE, RATE, VirtualScara
from didim.results.estimate import Estimate
from didim.signals.experiment import Experiment
from didim.signals.filters import estimated_motion
from didim.signals.states import measured_positions

Array = NDArray[np.float64]

START_OFFSET = (0.3, -0.3)
"""By how much the robot starts off its reference where that is tested, rad."""
MISTUNING = 0.2
"""Error of the a priori J and drive gain, (58), (60)."""

AS_PRINTED: dict[str, Any] = {
    "guards": False,
    "stopping": "printed",
    "accelerate": False,
    "decimate": "matlab",
}
"""Figure 5 and (34) to the letter."""


@dataclass(frozen=True, eq=False)
class Runs:
    """DIDIM on one record, as printed and guarded, each made when it is first used."""

    experiments: PaperExperiments
    record: Experiment
    loop: PD | None
    settings: dict[str, Any]

    @cached_property
    def printed(self) -> Estimate:
        """As printed."""
        return self.experiments.printed(self.record, self.loop, **self.settings)

    @cached_property
    def guarded(self) -> Estimate:
        """With the guards on."""
        return self.experiments.didim(self.record, self.loop, **self.settings)


@dataclass(frozen=True)
class PaperExperiments(VirtualScara):
    """All runs of section VI, each made when it is first used."""

    def didim(
        self,
        experiment: Experiment,
        loop: PD | None = None,
        validation: Experiment | None = None,
        **settings: Any,
    ) -> Estimate:
        """DIDIM with the guards on, in a loop (default: the true one)."""
        quick: dict[str, Any] = {"exact_interval": False, "lack_of_fit": False}  # compiles less
        method = DIDIM(controller=loop or self.loop(), **quick, **settings)
        return identify(self.model, experiment, method, validation)

    def printed(self, experiment: Experiment, loop: PD | None = None, **settings: Any) -> Estimate:
        """DIDIM as printed: Fig. 5, (34), MATLAB's decimation, 5 / omega_n cut at the start."""
        loop = loop or self.loop()
        transient = 5.0 / float(np.min(np.asarray(loop.natural_frequency)))
        return self.didim(experiment, loop, **{"transient": transient, **AS_PRINTED, **settings})

    def both(self, experiment: Experiment, loop: PD | None = None, **settings: Any) -> Runs:
        """DIDIM as printed and guarded."""
        return Runs(self, experiment, loop, settings)

    @cached_property
    def idim(self) -> Estimate:
        """VI.A: IDIM with good filtering, 20 Hz Butterworth, n_d = 20."""
        return identify(self.model, self.usual, IDIM(cutoff=20.0, lack_of_fit=False))

    @cached_property
    def from_idim(self) -> Runs:
        """VI.A: DIDIM started at IDIM's values."""
        return self.both(self.usual, initial=self.idim)

    @cached_property
    def regular(self) -> Runs:
        """VI.B: DIDIM from the regular initialisation chi^0 = [1 0 0 1 0 0 0 0], which is (63)."""
        return self.both(self.usual, initial="unit")

    @cached_property
    def identity(self) -> Runs:
        """VI.B: DIDIM from M = I (61), (62)."""
        return self.both(self.usual, initial="identity")

    @cached_property
    def by_reference(self) -> Estimate:
        """VI.B: IDIM with the reference in place of the motion."""
        return identify(self.model, self.usual, IDIM(states="reference", lack_of_fit=False))

    @cached_property
    def slow_idim(self) -> Estimate:
        """VI.C: IDIM at 0.5 Hz, no filter."""
        return identify(self.model, self.slow, IDIM(cutoff=None, decimation=1, lack_of_fit=False))

    @cached_property
    def slow_didim(self) -> Runs:
        """VI.C: DIDIM at 0.5 Hz."""
        return self.both(self.slow, decimation=1)

    @cached_property
    def raw_idim(self) -> Estimate:
        """VI.D: IDIM without filtering or decimation."""
        return identify(self.model, self.usual, IDIM(cutoff=None, decimation=1, lack_of_fit=False))

    @cached_property
    def raw_didim(self) -> Runs:
        """VI.D: DIDIM without decimation."""
        return self.both(self.usual, decimation=1)

    @cached_property
    def half(self) -> Runs:
        """VI.E: DIDIM with half the bandwidth, kp and kv both from it."""
        return self.both(self.usual, self.loop(1 / 2))

    @cached_property
    def third(self) -> Runs:
        """VI.E: DIDIM with a third of the bandwidth, kp and kv both from it."""
        return self.both(self.usual, self.loop(1 / 3))

    @cached_property
    def half_kp_kept(self) -> Runs:
        """VI.E: DIDIM with half the bandwidth and kp kept, as (59) prints."""
        return self.both(self.usual, self.loop(1 / 2, keep_kp=True))

    @cached_property
    def third_kp_kept(self) -> Runs:
        """VI.E: DIDIM with a third of the bandwidth and kp kept, as (59) prints."""
        return self.both(self.usual, self.loop(1 / 3, keep_kp=True))

    @cached_property
    def stiffer(self) -> PaperExperiments:
        """A stiffer loop on a trajectory chosen for VI.E with kp kept, the best of 527 tried."""
        return PaperExperiments(self.seed, 70, (50.0, 60.0), 5.3, 3, 12)

    @cached_property
    def off_start(self) -> tuple[Estimate, Estimate]:
        """VII: a robot that starts off its reference; with the transient cut, and without."""
        record = self.record(start_offset=START_OFFSET)
        return self.didim(record, decimation=1), self.didim(record, decimation=1, transient=0.0)

    @cached_property
    def mistuned(self) -> dict[str, Estimate]:
        """The true loop tuned with an a priori J, then a drive gain, 20 % off, (58) and (60); the
        simulated one knows neither.
        """
        J = largest_inertias(self.model, self.model.nominal)
        tuned = {
            "J 20 % low": 1 - MISTUNING,
            "J 20 % high": 1 + MISTUNING,
            "g 20 % low": 1 / (1 - MISTUNING),
            "g 20 % high": 1 / (1 + MISTUNING),
        }
        loops = {name: self.loop(inertia=factor * J) for name, factor in tuned.items()}
        return {name: self.printed(self.record(true_loop=loop)) for name, loop in loops.items()}

    @cached_property
    def low_rate_errors(self) -> Array:
        """(4,) Table 6: dq1, ddq1, dq2, ddq2 from 0.5 Hz samples against those from 200 Hz that are
        low-passed at 0.5 Hz, relative.
        """
        _, dq, ddq = estimated_motion(measured_positions(self.long), RATE, LOW_RATE)
        every = slice(None, None, round(RATE / LOW_RATE))
        _, slow_dq, slow_ddq = estimated_motion(measured_positions(self.slow), LOW_RATE, None)
        ratios = [
            np.linalg.norm(fast[every, j] - slow[:, j]) / np.linalg.norm(fast[every, j])
            for j in range(2)
            for fast, slow in ((dq, slow_dq), (ddq, slow_ddq))
        ]
        return np.array(ratios)
