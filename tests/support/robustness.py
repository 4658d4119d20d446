"""One run of the exact method on a virtual record: a law, a bandwidth, a prior and assumed gains.

Every record has joint torques alone, at 1 kHz with noise of 2 % of each joint's rms torque, and is
identified through the public functions. The tests make a few runs, `benchmarks.robustness` the
whole grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import didim
from didim.simulation import Truth
from support.undescribed import Outcome, inertias, judged, loop, misdescribed, truth, undescribed

NOISE = 0.02


@dataclass(frozen=True)
class Run:
    """What is tried."""

    grid: str
    robot: str
    law: str
    frequency: tuple[float, ...]
    """rad/s, one for all joints or one for each."""
    prior: str
    gains: str
    """"known", a factor, or "random"."""
    seed: int


@cache
def course(robot: str) -> didim.Fourier:
    """The trajectory: that of the published case for the TX40, else a random one within the robot's
    limits.
    """
    if robot == "tx40":
        return didim.load_case(Path(__file__).parents[2] / "cases" / "tx40.toml").reference
    return didim.Fourier.random(truth(robot).robot, 1, period=10.0, share=1.0)


def factors(run: Run, n: int) -> np.ndarray | float:
    """On kp and kv."""
    if run.gains == "random":
        return np.exp(np.random.default_rng(100 + run.seed).uniform(-1, 1, (2, n)) * np.log(2))
    return 1.0 if run.gains == "known" else float(run.gains)


def problem(
    run: Run, planned: didim.Trajectory | None = None
) -> tuple[didim.DynamicModel, didim.Experiment, didim.DIDIM, Truth]:
    """The model as it is described, the record, the method, and the truth behind the record; of a
    planned trajectory instead of the grid's own.
    """
    J = inertias(run.robot)
    omega = np.array(run.frequency) if len(run.frequency) > 1 else run.frequency[0]
    right, assumed = (loop(run.law, omega, J, factor) for factor in (1.0, factors(run, J.size)))
    if run.robot == "scara":
        seconds = 120.0 if omega.min() < 2 else 60.0
        reference = didim.Fourier.random(
            truth("scara").robot, 1, period=7.3, share=1.0, periods=int(seconds / 7.3) + 1
        )
        settings = {"duration": seconds}
    else:
        reference, settings = planned or course(run.robot), {}
    model = truth(run.robot)
    record, real = didim.virtual_experiment(
        model, model.nominal, right, reference, rate=1000.0, noise=NOISE, seed=run.seed, **settings
    )
    record = didim.Experiment(t=record.t, tau=record.tau, q_ref=reference)
    unknown = (
        undescribed(run.robot) if run.prior == "generic" else misdescribed(run.robot, 4.0, run.seed)
    )
    method = didim.DIDIM(
        controller=assumed, initial="unit", refine=True, estimate_gains=run.gains != "known"
    )
    return unknown, record, method, real


def outcome(run: Run) -> Outcome:
    """Make the record and identify it."""
    unknown, record, method, real = problem(run)
    return judged(didim.identify(unknown, record, method), record, real, run.robot)
