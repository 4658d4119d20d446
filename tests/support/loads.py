"""Virtual records of robots with and without a load, without a simulation or with one."""

from __future__ import annotations

import numpy as np

import didim
from didim.robot.inertia import about_origin
from support.virtual import model

BODY = about_origin(0.3, [0.12, 0.05, 0.02], np.diag([2e-3, 3e-3, 4e-3]))
"""(10,) a load of 0.3 kg, a quarter of the double pendulum's mass."""


def carrying(chosen: didim.DynamicModel, body: np.ndarray, joint: int = -1) -> np.ndarray:
    """(p,) the nominal robot with a body at the link of a joint."""
    phi = np.nan_to_num(chosen.nominal)
    phi[chosen.layout.link[joint]] += body
    return phi


def motion_record(
    chosen: didim.DynamicModel,
    phi: np.ndarray,
    seed: int = 0,
    *,
    noise: float = 0.0,
    seconds: float = 10.0,
    gains: np.ndarray | float = 1.0,
    name: str = "record",
) -> didim.Experiment:
    """A motion with the torque of inverse dynamics, over gains, and noise as a fraction of each
    joint's rms torque.
    """
    t = np.arange(0, seconds, 0.01)
    trajectory = didim.Fourier.random(chosen.robot, seed, period=5.0, periods=4, harmonics=6)
    q, dq, ddq = trajectory.sample(t)
    tau = chosen.inverse_dynamics(q, dq, ddq, phi) / gains
    random = np.random.default_rng(seed)
    size = noise * np.sqrt(np.mean(tau**2, axis=0))
    noisy = tau + size * random.standard_normal(tau.shape)
    return didim.Experiment(t, noisy, trajectory, q, name=name)


def exact(**settings) -> didim.IDIM:
    """IDIM along the reference, which these records follow exactly."""
    return didim.IDIM(**{"states": "reference", "decimation": 1, "trim": (20, 20), **settings})


def empty_estimate(
    chosen: didim.DynamicModel, seed: int = 0, noise: float = 0.0, **settings
) -> didim.Estimate:
    """The empty robot."""
    record = motion_record(chosen, np.nan_to_num(chosen.nominal), seed, noise=noise)
    return didim.identify(chosen, record, exact(**settings))


def pendulum() -> didim.DynamicModel:
    """The double pendulum, in gravity."""
    return model("double_pendulum")
