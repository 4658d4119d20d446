"""Virtual records that several tests share, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import didim
from didim.paper.experiments import PaperExperiments
from didim.paper.virtual_scara import BANDWIDTH, TRAJECTORY_SEED


@cache
def model(name: str = "scara", effects: tuple[str, ...] | None = None) -> didim.DynamicModel:
    return didim.DynamicModel(didim.load_robot(name), effects)


LONG_PERIODS = 26
"""Of the record of 0.5 Hz (VI.C): a seventh of what `didim paper` has."""


@cache
def _experiments(
    seed: int, trajectory: int, bandwidth: tuple[float, float], long_periods: int
) -> PaperExperiments:
    return PaperExperiments(seed, trajectory, bandwidth, long_periods=long_periods)


def paper(seed: int = 0, long_periods: int = LONG_PERIODS) -> PaperExperiments:
    """The paper's experiments, made once in each worker."""
    return _experiments(seed, TRAJECTORY_SEED, BANDWIDTH, long_periods)


def share_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `didim demo` and `didim paper` take the runs that `paper` has made where they ask for
    the same ones. Not for Tables 5 and 6: their record is longer.
    """

    def shared(seed=0, trajectory=TRAJECTORY_SEED, bandwidth=BANDWIDTH) -> PaperExperiments:
        return _experiments(seed, trajectory, bandwidth, LONG_PERIODS)

    for module in ("didim.demo", "didim.paper.experiments"):
        monkeypatch.setattr(f"{module}.PaperExperiments", shared)


@cache
def scara_record(
    bandwidth: tuple[float, float] = (20.0, 50.0),
    *,
    rate: float = 200.0,
    law_rate: float | None = None,
    noise: float = 0.0,
    encoder: float = 0.0,
    share: float = 1.0,
    period: float = 7.3,
    periods: int = 2,
    seed: int = 0,
    offset: float = 0.0,
    mistuned: float = 1.0,
):
    """An experiment on the virtual SCARA and its truth; `mistuned` multiplies the inertia that the
    true loop is tuned with.
    """
    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 1, period=period, periods=periods, share=share)
    J = mistuned * didim.largest_inertias(scara, scara.nominal)
    loop = didim.PD(natural_frequency=list(bandwidth), rate=law_rate, inertia=J)
    return didim.virtual_experiment(
        scara,
        scara.nominal,
        loop,
        trajectory,
        rate=rate,
        noise=noise,
        encoder=encoder,
        seed=seed,
        start_offset=offset,
    )


def inverse_record(
    chosen: didim.DynamicModel, phi: np.ndarray, noise: float = 0.0, seed: int = 0
) -> didim.Experiment:
    """10 s of a periodic motion with the torque of inverse dynamics, and noise on that, N m."""
    t = np.arange(0, 10, 0.01)
    q, dq, ddq = didim.Fourier.random(chosen.robot, 1, period=5.0, periods=2).sample(t)
    channels = {name: np.linspace(20.0, 40.0, t.size) for name in chosen.channels}
    tau = chosen.inverse_dynamics(q, dq, ddq, phi, None, channels)
    tau += noise * np.random.default_rng(seed).standard_normal(tau.shape)
    return didim.Experiment(t, tau, None, q, channels=channels)


def loop(bandwidth=(20.0, 50.0), rate: float | None = None) -> didim.PD:
    return didim.PD(natural_frequency=list(bandwidth), rate=rate)


def errors(estimate, truth: np.ndarray) -> dict[str, float]:
    """Relative error of each parameter."""
    return dict(zip(estimate.names, np.abs(estimate.values / truth - 1), strict=True))


INERTIAS = ("ZZ1R", "ZZ2", "MX2")


def inertia_error(estimate, truth: np.ndarray) -> float:
    found = errors(estimate, truth)
    return max(found[name] for name in INERTIAS)
