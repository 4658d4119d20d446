"""Plans without a search: a random series, slow enough for its limits, with invented sigmas."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import didim
from didim.design.clearance import clearances
from didim.design.limits import Limits
from didim.design.plan import Plan
from didim.simulation.motion import Motion


@cache
def plan_of(name: str = "panda", duration: float = 4.0, **settings: Any) -> Plan:
    robot = didim.load_robot(name)
    model = didim.DynamicModel(robot, effects=["viscous", "coulomb"]).base
    limits = Limits(robot, floor=-1.0, self_collision=0.005)
    series = didim.Fourier.random(robot, seed=3, period=duration, harmonics=3, share=0.35)
    t = np.arange(0.0, duration + 1e-9, 1e-3)
    q, dq, ddq = series.sample(t)
    slip = np.sign(dq)
    tau = model.inverse_dynamics(q, dq, ddq, model.nominal, slip)
    motion = Motion(t, q, dq, ddq, tau, slip, np.zeros(slip.shape, dtype=bool))
    random = np.random.default_rng(0)
    size = np.maximum(np.abs(model.nominal), 0.05)
    sigma = size * 10 ** random.uniform(-2.5, -0.5, size.size)
    return Plan(
        model=model,
        trajectory=series,
        method="IDIM",
        names=tuple(model.parameter_names),
        values=model.nominal,
        sigma=sigma,
        information=np.diag(sigma**-2.0),
        own_information=np.diag(sigma**-2.0),
        noise=np.full(robot.n, 0.3),
        rate=500.0,
        limits=limits,
        margins=_margins(robot, limits, q, dq, ddq, tau),
        motion=motion,
        seed=3,
        sigma_random=sigma * random.uniform(1.0, 3.0, size.size),
        seconds=1.0,
        **settings,
    )


def _margins(robot, limits, q, dq, ddq, tau) -> dict[str, float]:
    middle, half = limits.position.mean(axis=1), 0.5 * np.ptp(limits.position, axis=1)
    jerk = np.gradient(ddq, 1e-3, axis=0)
    used = {
        "position": np.abs(q - middle).max(axis=0) / half,
        "velocity": np.abs(dq).max(axis=0) / limits.velocity,
        "acceleration": np.abs(ddq).max(axis=0) / limits.acceleration,
        "jerk": np.abs(jerk).max(axis=0) / limits.jerk,
        "torque": np.abs(tau).max(axis=0) / limits.torque,
    }
    found = {
        f"{kind} of {joint}": float(1.0 - part)
        for kind, parts in used.items()
        for joint, part in zip(robot.joint_names, parts, strict=True)
    }
    watched = clearances(robot, limits)
    distances = watched.distances(q)
    far = distances.max(axis=0)
    return found | dict(zip(watched.names, (distances.min(axis=0) / far).tolist(), strict=True))
