"""Identified values against the description of the robot: gravity torques and inertias, joint by
joint.

A torque that is wrong by a factor, a clock that is wrong by a factor and a zero that is off leave
no residual: other masses, or masses elsewhere, explain them perfectly. Only the described masses
can tell. Along the poses of a record, with s_j a factor on the torque of joint j and delta its
zero,

    G_identified,j(q) = s_j G_described,j(q + delta)

is solved for s and delta by least squares, and the inertia of each joint is compared as a ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.dynamics.parameters import ParameterKind
from didim.signals.experiment import Experiment

Array = NDArray[np.float64]

MAX_POSES = 100
"""Poses at which gravity is compared, at most."""

MIN_GRAVITY = 0.03
"""rms gravity torque of a joint over the largest one, below which it has none."""

PRIOR_FACTOR, PRIOR_ZERO = 1.0, 1.0
"""Standard deviations of s and of delta (rad) of which nothing is known: they keep directions that
gravity does not see at s = 1 and delta = 0.
"""

FAINT = 1e-6
"""Weight of these priors beside one joint's gravity torque."""

LARGEST_FACTOR = 1e6
"""Of s, so that the iteration stays finite."""

ITERATIONS = 6
"""Of Gauss-Newton on s and delta."""

UNKNOWN_VARIANCE = 1e12
"""Of a parameter that is not identified: large, and zero times it is zero."""

STEP = 1e-4
"""rad: half the width of a central difference."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Identified over described values, each (n,) with its standard deviation; nan where nothing
    can be compared.
    """

    factor: Array
    """s: gravity torque over the described one."""
    factor_sigma: Array
    zero: Array
    """delta, rad: described position minus that of the record."""
    zero_sigma: Array
    misfit: Array
    """rms of the gravity torque that s and delta do not explain, over its rms."""
    inertia: Array
    """Inertia M_jj over the described one, mean of the poses."""
    inertia_sigma: Array


def compare(model: BaseModel, q: Array, values: Array, covariance: Array) -> Comparison | None:
    """Compare base parameters with the description at poses q (K, n); None where the links are not
    described.

    `values` (n, b) and `covariance` (n, b, b) are those that the torque of each joint is computed
    with: n times the same for an estimate, or the result of a fit to each joint alone.
    """
    phi = model.full.described
    if not np.isfinite(phi).all() or not np.isfinite(values).all():
        return None
    q = q[:: -(-q.shape[0] // MAX_POSES)]
    covariance = np.where(np.isfinite(covariance), covariance, UNKNOWN_VARIANCE)
    gravity = _gravity(model, q, values, covariance, phi)
    inertia = _inertia(model, q, values, covariance)
    return Comparison(*gravity, *inertia)


def poses(experiments: Sequence[Experiment]) -> Array:
    """(K, n) positions of the records, of their references where none were measured."""
    return np.vstack(
        [
            record.reference().positions(record.t) if record.q is None else record.q
            for record in experiments
        ]
    )


def same_for_all(model: BaseModel, values: Array, covariance: Array) -> tuple[Array, Array]:
    """One vector (b,) and its covariance (b, b) as `compare` takes them."""
    n = model.robot.n
    return np.tile(values, (n, 1)), np.tile(covariance, (n, 1, 1))


def _gravity(
    model: BaseModel, q: Array, values: Array, covariance: Array, phi: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """s, its sigma, delta, its sigma, and the misfit, each (n,)."""
    n, still = q.shape[1], np.zeros_like(q)
    W = model.regressor(q, still, still, None, model.no_signals(len(q)))
    W[:, :, [each.kind is ParameterKind.OFFSET for each in model.parameters]] = 0.0
    identified = np.einsum("kjb,jb->kj", W, values)
    right = _described_gravity(model.full, q, phi)
    size = np.sqrt(np.mean(right**2, axis=0))
    heavy = size > MIN_GRAVITY * max(size.max(), 1e-12)
    unknown = np.full(n, np.nan)
    if not heavy.any():
        return unknown, unknown, unknown, unknown, unknown
    weight = np.where(heavy, 1.0 / np.where(heavy, size, 1.0), 0.0) / np.sqrt(q.shape[0])
    prior = np.concatenate([np.full(n, PRIOR_FACTOR), np.full(n, PRIOR_ZERO)])
    x = np.concatenate([np.ones(n), np.zeros(n)])
    start, largest = x.copy(), np.concatenate([np.full(n, LARGEST_FACTOR), np.full(n, np.pi)])
    for _ in range(ITERATIONS):
        here, slopes = _slopes(model.full, q + x[n:], phi)
        jacobian = np.zeros((q.shape[0], n, 2 * n))
        jacobian[:, np.arange(n), np.arange(n)] = here
        jacobian[:, :, n:] = x[:n, None] * slopes
        A = (jacobian * weight[:, None]).reshape(-1, 2 * n)
        left = identified - x[:n] * here
        inverse = np.linalg.inv(A.T @ A + np.diag(FAINT / prior**2))
        x = x + inverse @ (A.T @ (left * weight).ravel() - FAINT * (x - start) / prior**2)
        x = np.clip(x, -largest, largest)
    weighted = W * weight[:, None]
    gathered = np.einsum("kjz,kjb->jzb", A.reshape(jacobian.shape), weighted, optimize=True)
    spread = inverse @ gathered
    variance = np.sum(spread @ covariance * spread, axis=(0, 2))
    seen = 1.0 - FAINT / prior**2 * np.diag(inverse)
    sigma = np.where(seen > 0.5, np.sqrt(np.maximum(variance, 0.0)), np.inf)
    x = np.where(np.isfinite(sigma), x, np.nan)
    left = identified - x[:n] * here
    with np.errstate(invalid="ignore", divide="ignore"):
        misfit = np.sqrt(np.mean(left**2, axis=0) / np.mean(identified**2, axis=0))
    return x[:n], sigma[:n], x[n:], sigma[n:], misfit


def _described_gravity(model: DynamicModel, q: Array, phi: Array) -> Array:
    """(K, n) without the constant torques of offsets."""
    still = np.zeros_like(q)
    link = np.where([each.kind.is_inertial for each in model.parameters], phi, 0.0)
    return model.inverse_dynamics(q, still, still, link, None, model.no_signals(len(q)))


def _slopes(model: DynamicModel, q: Array, phi: Array) -> tuple[Array, Array]:
    """Described gravity torques (K, n) at the poses q, and how they change with each zero (K, n,
    n); none where a joint slides.
    """
    n = q.shape[1]
    turns = np.array([joint.kind == "revolute" for joint in model.robot.coordinates])
    steps = np.diag(np.where(turns, STEP, 0.0))
    tried = q + np.concatenate([np.zeros((1, n)), steps, -steps])[:, None]
    here, *moved = _described_gravity(model, tried.reshape(-1, n), phi).reshape(-1, *q.shape)
    return here, (np.stack(moved[:n], axis=2) - np.stack(moved[n:], axis=2)) / (2 * STEP)


def _inertia(model: BaseModel, q: Array, values: Array, covariance: Array) -> tuple[Array, Array]:
    """M_jj over the described one and its sigma (n,); nan where rotors are part of the model and
    not described.
    """
    n, still = q.shape[1], np.zeros_like(q)
    nothing = model.no_signals(len(q))
    rest = model.regressor(q, still, still, None, nothing)
    ratio, sigma = np.full(n, np.nan), np.full(n, np.nan)
    for j in range(n):
        moving = np.zeros_like(q)
        moving[:, j] = 1.0
        row = np.mean(model.regressor(q, still, moving, None, nothing)[:, j] - rest[:, j], axis=0)
        described = float(np.sum(np.where(row != 0, row * model.nominal, 0.0)))
        if np.isfinite(described) and described > 0:
            ratio[j] = row @ values[j] / described
            sigma[j] = np.sqrt(max(float(row @ covariance[j] @ row), 0.0)) / described
    return ratio, sigma
