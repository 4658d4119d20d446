"""How often the intervals of IDIM contain the truth, on virtual robots in loops of a few Hz."""

from __future__ import annotations

import numpy as np

import didim
from support.virtual import model

LOOP_HZ = 5.0
TORQUE_NOISE = 0.02


def virtual_record(
    robot: str,
    rate: float,
    encoder: float,
    seed: int,
    *,
    noise: float = TORQUE_NOISE,
    loop_hz: float = LOOP_HZ,
    share: float = 0.7,
    period: float = 5.3,
    periods: int = 3,
) -> didim.Experiment:
    """A record of a robot on the random trajectory, and with the torque noise, of a seed."""
    of_robot = model(robot)
    trajectory = didim.Fourier.random(
        of_robot.robot, seed, period=period, periods=periods, share=share
    )
    loop = didim.PD(natural_frequency=2 * np.pi * loop_hz)
    virtual = {"rate": rate, "noise": noise, "encoder": encoder, "seed": seed}
    return didim.virtual_experiment(of_robot, of_robot.nominal, loop, trajectory, **virtual)[0]


def relative_errors(robot: str, record: didim.Experiment, method: didim.IDIM) -> np.ndarray:
    """(b,) error of each base parameter over the half width of its 95 % interval."""
    estimate = didim.identify(model(robot), record, method)
    assert estimate.status == "converged", estimate.message
    low, high = estimate.interval(0.95).T
    return np.abs(model(robot).base.nominal - (low + high) / 2) / ((high - low) / 2)
