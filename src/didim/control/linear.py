"""The linearised loop: poles of a continuous law, spectral radius of a sampled one, at one
configuration.

The plant is M(q) ddq = tau - Fv dq with M frozen; gravity and Coulomb friction are left out. The
law is the compiled one, written out here once more as a linear map, which the tests compare with
simulated motions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm

from didim.control.kernels.law import (
    BACKWARD_DIFFERENCE,
    COMPUTED_TORQUE,
    MEAN_DIFFERENCE,
    NO_VELOCITY,
    USER,
    Law,
)
from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.validation import per_joint

Array = NDArray[np.float64]


MAX_DELAY = 40
"""Samples of delay that are linearised one by one: each adds a state per joint. A loop with a
longer delay is linearised with a longer period, so that delay and hold take as long as they do.
"""


@dataclass(frozen=True, eq=False)
class LinearLoop:
    """Eigenvalues of the closed loop: poles in 1/s (continuous), or multipliers per sample
    (sampled).
    """

    eigenvalues: NDArray[np.complex128]
    vectors: NDArray[np.complex128]
    sampled: bool
    n: int

    @property
    def spectral_radius(self) -> float:
        """Largest multiplier per sample, or per second for a continuous law; below 1 is stable."""
        return float(
            np.abs(self.eigenvalues).max() if self.sampled else np.exp(self.eigenvalues.real.max())
        )

    @property
    def stable(self) -> bool:
        """Whether small deviations die out."""
        return bool(
            self.spectral_radius < 1.0 if self.sampled else self.eigenvalues.real.max() < 0.0
        )

    @property
    def slowest(self) -> float:
        """Rate at which the slowest mode dies out, in 1 over the unit of time: s (continuous) or
        samples (sampled).
        """
        with np.errstate(divide="ignore"):
            decay = -np.log(np.abs(self.eigenvalues)) if self.sampled else -self.eigenvalues.real
        return float(decay.min())

    @property
    def worst_joint(self) -> int:
        """Index of the joint that moves most in the slowest or most unstable mode."""
        size = np.abs(self.eigenvalues) if self.sampled else self.eigenvalues.real
        return int(np.abs(self.vectors[: self.n, size.argmax()]).argmax())


def linearise(
    model: TorqueModel, parameters: ArrayLike, loop: Controller, q: ArrayLike
) -> LinearLoop | None:
    """The loop around the configuration q (n,); None for a user's own law, and where the inertia
    matrix is infeasible.

    With gains that were tuned for another J or g, the poles are those of (60).

    Implements (52), (60).
    """
    return linearise_along(model, parameters, loop, per_joint(q, "q", model.robot.n)[None, :])[0]


def linearise_along(
    model: TorqueModel, parameters: ArrayLike, loop: Controller, poses: Array
) -> list[LinearLoop | None]:
    """The loop around each of the configurations (K, n), as `linearise` has it."""
    if not isinstance(loop, Controller):
        raise InputError(
            f"loop must be a controller such as didim.PD, found {type(loop).__name__}."
        )
    n = model.robot.n
    law = loop.resolve(
        model,
        largest_inertias(model, parameters)
        if loop.by_poles and loop.inertia is None
        else np.ones(n),
    )
    if law.kind == USER:
        return [None] * len(poses)
    inertia, viscous = model.inertia_matrix(poses, parameters), _viscous(model, parameters)
    gains = np.broadcast_to(law.gain, inertia.shape)
    if law.kind == COMPUTED_TORQUE and loop.model is not None:
        own = loop.model.nominal if loop.parameters is None else loop.parameters
        gains = loop.model.inertia_matrix(poses, own)
        viscous = viscous - _viscous(loop.model, own)
    feasible = np.linalg.eigvalsh(inertia)[:, 0] > 0
    return [
        _linear_loop(M, viscous, gain, law, loop.delay) if positive else None
        for M, gain, positive in zip(inertia, gains, feasible, strict=True)
    ]


def _viscous(model: TorqueModel, parameters: ArrayLike) -> Array:
    """Fv (n, n), the mean of both directions."""
    values = model.values(parameters)
    both = 0.5 * (values.viscous_positive + values.viscous_negative)
    return np.asarray(values.viscous + np.diag(both))


def _linear_loop(M: Array, viscous: Array, gain: Array, law: Law, delay: int) -> LinearLoop:
    """The loop with the inertia matrix, viscous friction and gain of the drive (n, n)."""
    n, inverse = len(M), np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [np.zeros((n, n)), -inverse @ viscous]])
    B = np.vstack([np.zeros((n, n)), inverse @ gain])
    if law.period == 0:
        return LinearLoop(*np.linalg.eig(_continuous(A, B, law)), False, n)
    kept = min(delay, MAX_DELAY)
    stretch = (delay + 0.5) / (kept + 0.5)
    multipliers, vectors = np.linalg.eig(
        _sampled(A, B, law._replace(period=stretch * law.period), kept)
    )
    return LinearLoop(multipliers.astype(np.complex128) ** (1 / stretch), vectors, True, n)


def _continuous(A: Array, B: Array, law: Law) -> Array:
    """State q, dq and those integrals that the law uses."""
    n = law.kp.size
    e = np.hstack([-np.eye(n), np.zeros((n, n))])
    s = np.hstack([-np.diag(law.kp), -np.eye(n)])
    F, H = A + B @ np.diag(law.kv) @ s, []
    for gain, error in ((law.ki, e), (law.kiv, s)):
        used = np.flatnonzero(gain)
        if used.size:
            H.append((np.diag(gain)[:, used], error[used]))
    if not H:
        return F
    gains, errors = np.hstack([B @ g for g, _ in H]), np.vstack([error for _, error in H])
    return np.block([[F, gains], [errors, np.zeros((errors.shape[0], errors.shape[0]))]])


def _sampled(A: Array, B: Array, law: Law, delay: int) -> Array:
    """One sample as a matrix on q, dq, the last two positions, the integrals and the commands in
    the delay line.
    """
    n, T = law.kp.size, law.period
    block = expm(T * np.block([[A, B], [np.zeros((n, 3 * n))]]))
    F, G = block[: 2 * n, : 2 * n], block[: 2 * n, 2 * n :]

    def step(z: Array) -> Array:
        """The columns of `z` ((6 + delay) n, k) one sample later."""
        q, dq, past, before, ie, iS, *line = z.reshape(-1, n, z.shape[1])
        velocity = {
            BACKWARD_DIFFERENCE: (q - past) / T,
            MEAN_DIFFERENCE: (q - before) / (2 * T),
            NO_VELOCITY: 0.0 * dq,
        }.get(law.velocity, dq)
        kp, kv, ki, kiv = (gain[:, None] for gain in (law.kp, law.kv, law.ki, law.kiv))
        e = -q
        s = kp * e - velocity
        ie, iS = (ie + T * e) * (ki != 0), (iS + T * s) * (kiv != 0)
        line.append(kv * s + ki * ie + kiv * iS)
        moved = F @ np.concatenate([q, dq]) + G @ line[0]
        return np.concatenate([moved, q, past, ie, iS, *line[1:]])

    return step(np.eye((6 + delay) * n))
