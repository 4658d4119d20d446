"""Tasks for `run_many`: short records of a virtual SCARA, and what can go wrong with a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

import didim
from didim.fleet.analysis import Fleet, fleet_of
from didim.fleet.members import Member
from didim.fleet.row import Row

ROBOTS, DAYS = 12, 10
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


def exits(seed: int) -> didim.Experiment:
    sys.exit("bad seed")


def reads_input(seed: int) -> didim.Experiment:
    """A record after a program that waits for the end of its input."""
    subprocess.run(["cat"], stdout=subprocess.DEVNULL, timeout=30, check=True)
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


@cache
def estimated() -> Row:
    """One row of a SCARA, whose covariance is that of a real record."""
    return didim.run_many(tasks(1), jobs=1)[0]


def virtual_fleet(seed: int, odd: float = 0.0, drift: float = 0.0) -> Fleet:
    """Robots that differ by 3 %, and whose values have the covariance of `estimated`. Robot 3 has
    more friction in joint 2, Fc1 of robot 7 grows from day to day.
    """
    rng, row = np.random.default_rng(seed), estimated()
    root = np.linalg.cholesky(row.covariance)
    members, rows = [], []
    for robot in range(ROBOTS):
        own = row.values * (1 + 0.03 * rng.standard_normal(row.values.size))
        for day in range(DAYS):
            value = own + root @ rng.standard_normal(own.size)
            value[row.names.index("Fc2")] += odd * 0.137 * (robot == 3)
            value[row.names.index("Fc1")] += drift * 0.82 * day * (robot == 7)
            members.append(Member(f"{robot}", f"arm{robot}", float(day)))
            rows.append(replace(row, values=value))
    return fleet_of(members, rows)
