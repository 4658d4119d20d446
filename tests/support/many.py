"""Tasks for `run_many`: short records of a virtual SCARA, and what can go wrong with a worker."""

from __future__ import annotations

import os
import signal
from functools import cache, partial
from pathlib import Path

import numpy as np

import didim

METHOD = didim.IDIM(decimation=4, lack_of_fit=False)


@cache
def scara() -> didim.DynamicModel:
    return didim.DynamicModel(didim.load_robot("scara"))


@cache
def record(seed: int) -> didim.Experiment:
    """A motion with torques by inverse dynamics and noise; nothing is simulated."""
    t = np.arange(0.0, 4.0, 0.005)
    q, dq, ddq = didim.Fourier.random(scara().robot, seed=1, period=4.0, share=1.0).sample(t)
    tau = scara().inverse_dynamics(q, dq, ddq, scara().nominal)
    noise = np.random.default_rng(seed).standard_normal(tau.shape)
    return didim.Experiment(t=t, tau=tau + 0.05 * noise, q=q, q_ref=q)


def record_or_death(seed: int, sign: Path, fatal: int, times: int) -> didim.Experiment:
    """A record; with one seed, the process is killed before, so many times."""
    deaths = sign.stat().st_size if sign.exists() else 0
    if seed == fatal and deaths < times:
        with sign.open("ab") as file:
            file.write(b".")
        os.kill(os.getpid(), signal.SIGKILL)
    return record(seed)


def tasks(count: int = 6) -> list:
    return [((scara(), record, METHOD), {}, seed) for seed in range(count)]


def deadly_tasks(sign: Path, count: int, fatal: int, times: int = 1) -> list:
    made = partial(record_or_death, sign=sign, fatal=fatal, times=times)
    return [((scara(), made, METHOD), {}, seed) for seed in range(count)]


def numbers(table: didim.RunTable) -> list[bytes]:
    """All that must be equal, bit for bit."""
    return [
        b"|".join(
            [row.name.encode(), row.status.encode(), row.reason.encode()]
            + [each.tobytes() for each in (row.values, row.sigma, row.covariance)]
            + [row.residual_by_joint.tobytes(), np.float64(row.residual).tobytes()]
        )
        for row in table
    ]
