"""Section VI on a virtual SCARA. The authors' record is not public; this one is made from published
settings and a seed.

The printed natural frequencies, 1 and 10 rad/s, cannot give the tracking that Fig. 11 shows; here
the loop has 20 and 50 rad/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.laws import PD
from didim.control.tuning import largest_inertias
from didim.dynamics.model import DynamicModel
from didim.identification.identify import identify
from didim.identification.methods.didim import DIDIM
from didim.identification.methods.idim import IDIM
from didim.results.estimate import Estimate
from didim.robot.load import load_robot
from didim.signals.experiment import Experiment
from didim.signals.filters import estimated_motion
from didim.signals.trajectories import Fourier
from didim.simulation.virtual import virtual_experiment

Array = NDArray[np.float64]

RATE = 200.0
"""Of control and measurement, Hz (section V)."""
BANDWIDTH = (20.0, 50.0)
"""Natural frequencies of the two joints, rad/s; damping 1."""
PERIOD = 10.3
"""Of the trajectory, s: a Fourier series of five harmonics, up to 0.49 Hz."""
TRAJECTORY_SEED = 2010
NOISE = 0.1
"""Standard deviation of the torque noise over each joint's rms torque."""
ENCODER = 2 * np.pi / 60_000
"""Step of the measured position, rad."""
SHORT, LONG = 6, 180
"""Periods of the usual record (62 s), and of that for 0.5 Hz (1854 s)."""
LOW_RATE = 0.5
"""Of VI.C, Hz."""
START_OFFSET = (0.3, -0.3)
"""By how much the robot starts off its reference where that is tested, rad."""
MISTUNING = 0.2
"""Error of the a priori J and drive gain, (58), (60)."""


@dataclass(frozen=True)
class PaperExperiments:
    """All runs of section VI, each made when it is first asked for."""

    seed: int = 0
    """Of the noise."""

    @cached_property
    def model(self) -> DynamicModel:
        """The SCARA of section V, true parameters those of Table 1."""
        return DynamicModel(load_robot("scara"))

    @property
    def truth(self) -> Array:
        """(8,) true base parameters."""
        return self.model.base.nominal

    def loop(self, share: float = 1.0, **settings: object) -> PD:
        """The PD law (53), at a share of its bandwidth."""
        poles = share * np.array(BANDWIDTH)
        return PD(natural_frequency=poles, damping=1.0, rate=RATE, **settings)  # type: ignore[arg-type]

    def record(
        self,
        periods: int = SHORT,
        true_loop: PD | None = None,
        start_offset: tuple[float, float] = (0.0, 0.0),
        trajectory: int = TRAJECTORY_SEED,
        seed: int | None = None,
        name: str = "virtual SCARA",
    ) -> Experiment:
        """A record of the virtual robot."""
        course = Fourier.random(
            self.model.robot, trajectory, period=PERIOD, share=1.0, periods=periods
        )
        experiment, _ = virtual_experiment(
            self.model,
            self.model.nominal,
            true_loop or self.loop(),
            course,
            rate=RATE,
            noise=NOISE,
            encoder=ENCODER,
            start_offset=start_offset,
            seed=self.seed if seed is None else seed,
            name=name,
        )
        return experiment

    @cached_property
    def usual(self) -> Experiment:
        """The record of VI.A, B, D and E."""
        return self.record()

    @cached_property
    def other(self) -> Experiment:
        """Another motion of the same robot, with other noise: no fit sees it."""
        return self.record(
            periods=2, trajectory=TRAJECTORY_SEED + 1, seed=self.seed + 1, name="another motion"
        )

    @cached_property
    def slow(self) -> Experiment:
        """The record of VI.C: a long one of which every 400th sample is kept, without filtering."""
        long, every = self.record(LONG), slice(None, None, round(RATE / LOW_RATE))
        t, tau, q = (np.asarray(signal)[every] for signal in (long.t, long.tau, long.q))
        return Experiment(t, tau, long.q_ref, q, name="virtual SCARA, 0.5 Hz")

    def didim(
        self,
        experiment: Experiment,
        share: float = 1.0,
        validation: Experiment | None = None,
        **settings: object,
    ) -> Estimate:
        """DIDIM on a record, the loop simulated at a share of the true bandwidth."""
        loop = self.loop(share)
        method = DIDIM(controller=loop, exact_interval=False, **settings)  # type: ignore[arg-type]
        return identify(self.model, experiment, method, validation)

    @cached_property
    def idim(self) -> Estimate:
        """VI.A: IDIM with good filtering, 20 Hz Butterworth, n_d = 20."""
        return identify(self.model, self.usual, IDIM())

    @cached_property
    def didim_from_idim(self) -> Estimate:
        """VI.A: DIDIM started at IDIM's values."""
        return self.didim(self.usual, initial=self.idim)

    @cached_property
    def regular(self) -> Estimate:
        """VI.B: DIDIM from the regular initialisation chi^0 = [1 0 0 1 0 0 0 0], which is (63)."""
        return self.didim(self.usual, initial="unit")

    @cached_property
    def identity(self) -> Estimate:
        """VI.B: DIDIM from M = I (61), (62)."""
        return self.didim(self.usual, initial="identity")

    @cached_property
    def by_reference(self) -> Estimate:
        """VI.B: IDIM with the reference in place of the motion."""
        return identify(self.model, self.usual, IDIM(states="reference"))

    @cached_property
    def slow_idim(self) -> Estimate:
        """VI.C: IDIM at 0.5 Hz, no filter."""
        return identify(self.model, self.slow, IDIM(cutoff=None, decimation=1))

    @cached_property
    def slow_didim(self) -> Estimate:
        """VI.C: DIDIM at 0.5 Hz."""
        return self.didim(self.slow, decimation=1)

    @cached_property
    def raw_idim(self) -> Estimate:
        """VI.D: IDIM without filtering or decimation."""
        return identify(self.model, self.usual, IDIM(cutoff=None, decimation=1))

    @cached_property
    def raw_didim(self) -> Estimate:
        """VI.D: DIDIM without decimation."""
        return self.didim(self.usual, decimation=1)

    @cached_property
    def half(self) -> Estimate:
        """VI.E: DIDIM with half the bandwidth."""
        return self.didim(self.usual, 1 / 2)

    @cached_property
    def third(self) -> Estimate:
        """VI.E: DIDIM with a third of the bandwidth."""
        return self.didim(self.usual, 1 / 3)

    @cached_property
    def off_start(self) -> tuple[Estimate, Estimate]:
        """VII: a robot that starts off its reference; with the transient cut, and without."""
        record = self.record(start_offset=START_OFFSET)
        return self.didim(record, decimation=1), self.didim(record, decimation=1, transient=0.0)

    @cached_property
    def mistuned(self) -> dict[str, Estimate]:
        """(58), (60): the true loop tuned with an a priori J, then a drive gain, 20 % off; the
        simulated one knows neither.
        """
        J = largest_inertias(self.model, self.model.nominal)
        tuned = {
            "J 20 % low": 1 - MISTUNING,
            "J 20 % high": 1 + MISTUNING,
            "g 20 % low": 1 / (1 - MISTUNING),
            "g 20 % high": 1 / (1 + MISTUNING),
        }
        return {
            name: self.didim(self.record(true_loop=self.loop(inertia=share * J)))
            for name, share in tuned.items()
        }

    @cached_property
    def low_rate_errors(self) -> Array:
        """(4,) Table 6: dq1, ddq1, dq2, ddq2 from 0.5 Hz samples against those from 200 Hz,
        relative.
        """
        long = self.record(LONG)
        _, dq, ddq = estimated_motion(np.asarray(long.q), RATE, 20.0)
        every = slice(None, None, round(RATE / LOW_RATE))
        _, slow_dq, slow_ddq = estimated_motion(np.asarray(self.slow.q), LOW_RATE, None)
        shares = [
            np.linalg.norm(fast[every, j] - slow[:, j]) / np.linalg.norm(fast[every, j])
            for j in range(2)
            for fast, slow in ((dq, slow_dq), (ddq, slow_ddq))
        ]
        return np.array(shares)
