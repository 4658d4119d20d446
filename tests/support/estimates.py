"""Estimates that tests take apart, without a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import didim
from didim.dynamics.consistent import BASIS
from didim.dynamics.described import described_robot
from didim.robot.inertia import pseudo_inertia


def physical_parameters(model: didim.DynamicModel, spread: float = 0.05, seed: int = 0):
    """(p,) a physical robot whose bodies, rotors and friction differ from the described ones."""
    rng = np.random.default_rng(seed)
    phi = described_robot(model.base)
    single = np.where(np.isnan(model.nominal), 0.5, model.nominal)
    changed = single * np.exp(spread * rng.standard_normal(phi.size))
    for columns in model.layout.link:
        A = np.eye(4) + spread * rng.standard_normal((4, 4))
        body = A @ pseudo_inertia(phi[columns]) @ A.T
        changed[columns] = np.linalg.lstsq(BASIS.reshape(10, 16).T, body.ravel(), rcond=None)[0]
    return changed


def estimate_of(model: didim.DynamicModel, spread: float = 0.05, seed: int = 0) -> didim.Estimate:
    """An IDIM estimate of a physical robot that differs from the described one."""
    beta = model.base.matrix @ physical_parameters(model, spread, seed)
    trajectory = didim.Fourier.random(model.robot, seed, harmonics=8)
    t = np.arange(0, 10, 0.01)
    q, dq, ddq = trajectory.sample(t)
    tau = model.base.inverse_dynamics(q, dq, ddq, beta)
    found = didim.identify(
        model, didim.Experiment(t, tau, None, q), didim.IDIM(cutoff=None, decimation=1)
    )
    return replace(found, values=beta)


def estimate_at(model: didim.DynamicModel, phi: np.ndarray, like: didim.Estimate) -> didim.Estimate:
    """An estimate of any model with the base parameters of phi (p,): what `like` tells of its fit,
    nothing fitted.
    """
    base = model.base
    b, n = len(base.parameter_names), model.robot.n
    return replace(
        like,
        model=base,
        names=base.parameter_names,
        values=base.matrix @ phi,
        covariance=1e-6 * np.eye(b),
        corrected_covariance=1e-6 * np.eye(b),
        residual_by_joint=np.zeros(n),
        residual_over_noise=None,
        standard=phi,
        history=(),
    )
