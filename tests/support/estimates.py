"""Estimates that tests take apart, without a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import didim


def estimate_of(model: didim.DynamicModel, spread: float = 0.05, seed: int = 0) -> didim.Estimate:
    """An IDIM estimate of a robot whose base parameters differ from the described ones."""
    rng = np.random.default_rng(seed)
    phi = np.where(np.isnan(model.nominal), 0.5, model.nominal)
    beta = (
        model.base.matrix
        @ phi
        * (1 + spread * rng.standard_normal(len(model.base.parameter_names)))
    )
    trajectory = didim.Fourier.random(model.robot, seed, harmonics=8)
    t = np.arange(0, 10, 0.01)
    q, dq, ddq = trajectory.sample(t)
    tau = model.base.inverse_dynamics(q, dq, ddq, beta)
    found = didim.identify(
        model, didim.Experiment(t, tau, None, q), didim.IDIM(cutoff=None, decimation=1)
    )
    return replace(found, values=beta)
