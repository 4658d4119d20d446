"""White noise of a torque signal, from its second differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIN_LAG_CORRELATION = 0.95
"""Correlation of a velocity with itself one sample later, below which a period of the motion has
too few samples (about twenty) for second differences of its torque to be small.
"""

MOTION_FRACTION = 0.25
"""Part of the second differences that the motion alone makes, beyond which they are not noise."""


def noise_variance(tau: Array, samples: slice) -> Array:
    """(n,) variance of white noise on torques (N, n): that of their second differences over the
    samples, over 6, at least that of their quantisation. An upper bound where the torque itself
    changes fast.
    """
    steps = np.abs(np.diff(tau, axis=0)).T
    quantum = np.array([np.min(step[step > 0], initial=np.inf) for step in steps])
    coarse = np.where(np.isfinite(quantum), quantum, 0.0) ** 2 / 12.0
    return np.maximum(_second_differences(tau[samples]), coarse)


def decimated_noise(segments: Sequence[tuple[Array, slice]], noise_gain: float) -> Array:
    """(n,) deviation of white noise after decimation, whose filter has this gain of variance, over
    the samples of several torques (N, n).
    """
    counts = [max(len(range(*used.indices(len(tau)))) - 2, 0) for tau, used in segments]
    parts = [rows * noise_variance(*each) for rows, each in zip(counts, segments, strict=True)]
    return np.asarray(np.sqrt(noise_gain * sum(parts) / max(sum(counts), 1)))


def acceleration_noise(q: Array, rate: float, cutoff: float) -> Array:
    """(n,) deviation of accelerations below `cutoff`, Hz, from positions (N, n) sampled at `rate`
    with white noise: s_q sqrt(2 (2 pi)^4 cutoff^5 / (5 rate)).
    """
    variance = noise_variance(q, slice(None))
    return np.asarray(np.sqrt(variance * 2 * (2 * np.pi) ** 4 * cutoff**5 / (5 * rate)))


def few_samples(dq: Array) -> NDArray[np.bool_]:
    """(n,) whether a period of the motion dq (N, n) has too few samples to differentiate it."""
    power = np.maximum(np.sum(dq**2, axis=0), 1e-300)
    return np.asarray(np.sum(dq[1:] * dq[:-1], axis=0) / power < MIN_LAG_CORRELATION)


def is_undersampled(tau: Array, simulated: Array, dq: Array) -> NDArray[np.bool_]:
    """(n,) whether second differences of a record's torque (N, n) show its motion, not its noise.

    A simulated torque (N, n) has no noise: where it bends as much as the recorded one, and its
    velocities dq (N, n) have few samples in a period, nothing is known about noise.
    """
    bends = _second_differences(simulated) > MOTION_FRACTION * _second_differences(tau)
    return np.asarray(bends & few_samples(dq))


def _second_differences(tau: Array) -> Array:
    """(n,) the variance of white noise that has these second differences, by their median."""
    return np.asarray((np.median(np.abs(np.diff(tau, 2, axis=0)), axis=0) / 0.6745) ** 2 / 6.0)
