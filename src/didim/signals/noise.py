"""White noise of torques and of positions, from their differences."""

from __future__ import annotations

import math
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

COUNT_TOLERANCE = 0.01
"""By which the counts of an encoder may differ from whole numbers, by rounding."""

DIFFERENCE_ORDERS = range(2, 7)
"""Of the differences that show the noise of positions."""


def noise_variance(tau: Array, samples: slice) -> Array:
    """(n,) variance of white noise on torques (N, n): that of their second differences over the
    samples, over 6, at least that of their quantisation. An upper bound where the torque itself
    changes fast.
    """
    return np.maximum(_second_differences(tau[samples]), _quantum(tau) ** 2 / 12.0)


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
    gain = math.sqrt(2 * (2 * np.pi) ** 4 * cutoff**5 / (5 * rate))
    return np.asarray(gain * position_noise(q))


def velocity_noise(q: Array, rate: float, cutoff: float | None) -> Array:
    """(n,) deviation of velocities below `cutoff`, Hz, in the same way:
    s_q sqrt(2 (2 pi)^2 cutoff^3 / (3 rate)); None: below half the rate, an upper bound.
    """
    highest = rate / 2 if cutoff is None else min(cutoff, rate / 2)
    gain = math.sqrt(2 * (2 * np.pi) ** 2 * highest**3 / (3 * rate))
    return np.asarray(gain * position_noise(q))


def few_samples(dq: Array) -> NDArray[np.bool_]:
    """(n,) whether a period of the motion dq (N, n) has too few samples to differentiate it."""
    power = np.maximum(np.sum(dq**2, axis=0), 1e-300)
    return np.asarray(np.sum(dq[1:] * dq[:-1], axis=0) / power < MIN_LAG_CORRELATION)


def is_undersampled(tau: Array, simulated: Array, dq: Array) -> NDArray[np.bool_]:
    """(n,) whether second differences of a record's torque (N, n) show its motion, not its noise.

    A simulated torque (N, n) has no noise: where it bends as much as the recorded one, and its
    velocities dq (N, n) have few samples in a period, nothing is known about noise.
    """
    few = few_samples(dq)
    if not few.any():
        return few
    bends = _second_differences(simulated) > MOTION_FRACTION * _second_differences(tau)
    return np.asarray(bends & few)


def _second_differences(tau: Array) -> Array:
    """(n,) the variance of white noise that has these second differences, by their median."""
    return _deviation(np.diff(tau, 2, axis=0)) ** 2 / 6.0


def position_noise(q: Array) -> Array:
    """(n,) standard deviation of white noise on measured positions (N, n), rad or m: the least that
    their differences of order 2 to 6 show, at least that of their quantisation.

    A difference of order d multiplies the variance of white noise by (2d)! / d!^2; what the motion
    adds shrinks with d until only noise is left.
    """
    found = [
        _deviation(np.diff(q, d, axis=0)) / math.sqrt(math.comb(2 * d, d))
        for d in DIFFERENCE_ORDERS
    ]
    return np.maximum(np.min(found, axis=0), resolution(q) / math.sqrt(12.0))


def resolution(x: Array) -> Array:
    """(n,) step of a log, of which all steps of its columns (N, n) are multiples; 0 where there is
    none.
    """
    step = _quantum(x)
    counts = np.diff(x, axis=0) / np.where(step > 0, step, 1.0)
    off = np.abs(counts - np.round(counts))
    return np.where(np.quantile(off, 0.99, axis=0) < COUNT_TOLERANCE, step, 0.0)


def has_coarse_steps(tau: Array) -> bool:
    """Whether a torque (N, n) was logged in steps larger than twice its noise: their errors follow
    the torque then, and do not look like noise.
    """
    return bool(np.any(resolution(tau) > 2.0 * np.sqrt(_second_differences(tau))))


def _quantum(x: Array) -> Array:
    """(n,) the smallest step that each column of x (N, n) makes; 0 where it makes none."""
    steps = np.abs(np.diff(x, axis=0)).T
    smallest = np.array([np.min(step[step > 0], initial=np.inf) for step in steps])
    return np.where(np.isfinite(smallest), smallest, 0.0)


def _deviation(x: Array) -> Array:
    """(n,) standard deviation of the columns of x (N, n), by their median: a few large values, at
    reversals, do not count.
    """
    return np.asarray(np.median(np.abs(x), axis=0) / 0.6745)
