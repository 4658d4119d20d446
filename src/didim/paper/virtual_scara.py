"""The virtual SCARA of section VI: its loop and its records. The authors' record is not public;
these are made from published settings and a seed.

The printed natural frequencies, 1 and 10 rad/s, cannot give the tracking that Fig. 11 shows; here
the loop has 20 and 50 rad/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.laws import PD
from didim.dynamics.model import DynamicModel
from didim.robot.load import load_robot
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.states import measured_positions
from didim.signals.trajectories import Fourier
from didim.simulation.virtual import virtual_experiment

Array = NDArray[np.float64]

RATE = 200.0
"""Of control and measurement, Hz (section V)."""
BANDWIDTH = (20.0, 50.0)
"""Natural frequencies of the two joints, rad/s; damping 1."""
PERIOD = 10.3
"""Of the trajectory, s: a Fourier series of five harmonics, up to 0.49 Hz."""
HARMONICS = 5
TRAJECTORY_SEED = 2010
NOISE = 0.1
"""Standard deviation of the torque noise over each joint's rms torque."""
ENCODER = 2 * np.pi / 60_000
"""Step of the measured position, rad."""
SHORT, LONG = 6, 180
"""Periods of the usual record (62 s), and of that for 0.5 Hz (1854 s)."""
LOW_RATE = 0.5
"""Of VI.C, Hz."""


@dataclass(frozen=True)
class VirtualScara:
    """The robot in its loop, and its records, each made when it is first used."""

    seed: int = 0
    """Of the noise."""
    trajectory: int = TRAJECTORY_SEED
    """Seed of the Fourier series."""
    bandwidth: tuple[float, float] = BANDWIDTH
    """Natural frequencies of the true loop, rad/s."""
    period: float = PERIOD
    harmonics: int = HARMONICS
    periods: int = SHORT
    long_periods: int = LONG
    """Of the record for VI.C."""

    @cached_property
    def model(self) -> DynamicModel:
        """The SCARA of section V, true parameters those of Table 1."""
        return DynamicModel(load_robot("scara"))

    @property
    def truth(self) -> Array:
        """(8,) true base parameters."""
        return self.model.base.nominal

    def loop(
        self, fraction: float = 1.0, keep_kp: bool = False, inertia: Array | None = None
    ) -> PD:
        """The PD law (53), at a fraction of its bandwidth: kp and kv from it (56), or, with kp kept
        as (59) prints, damping and bandwidth reduced together, which leaves kv alone to change.
        """
        poles = fraction * np.array(self.bandwidth)
        damping = fraction if keep_kp else 1.0
        return PD(natural_frequency=poles, damping=damping, rate=RATE, inertia=inertia)

    def record(
        self,
        periods: int | None = None,
        true_loop: PD | None = None,
        start_offset: tuple[float, float] = (0.0, 0.0),
        trajectory: int | None = None,
        seed: int | None = None,
        name: str = "virtual SCARA",
    ) -> Experiment:
        """A record of the virtual robot."""
        motion = Fourier.random(
            self.model.robot,
            self.trajectory if trajectory is None else trajectory,
            period=self.period,
            harmonics=self.harmonics,
            share=1.0,
            periods=periods or self.periods,
        )
        experiment, _ = virtual_experiment(
            self.model,
            self.model.nominal,
            true_loop or self.loop(),
            motion,
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
        trajectory, seed = self.trajectory + 1, self.seed + 1
        return self.record(2, trajectory=trajectory, seed=seed, name="another motion")

    @cached_property
    def slow(self) -> Experiment:
        """The record of VI.C: a long one of which every 400th sample is kept, without filtering."""
        return self.sampled(LOW_RATE)

    @cached_property
    def long(self) -> Experiment:
        """A long record at the full rate."""
        return self.record(self.long_periods)

    def sampled(self, rate: float) -> Experiment:
        """The long record at a lower rate, Hz, without filtering."""
        long, every = self.long, slice(None, None, round(RATE / rate))
        name = f"virtual SCARA, {rate:g} Hz"
        q, tau = measured_positions(long)[every], measured_torque(long)[every]
        return Experiment(long.t[every], tau, long.q_ref, q, name=name)
