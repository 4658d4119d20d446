"""Which samples tell nothing about Coulomb friction: those near the reversals of a joint.

Around a reversal the filtered velocity has the wrong sign for a while, the acceleration jumps, and
a joint that sticks has a friction torque between -Fc and Fc that no column of W describes. The
equations of these samples are multiplied by 0 before they are decimated, with a smooth passage to
1: a sharp one would mix the noise of the acceleration, which lies at high frequencies, into the
band of the rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF_WIDTH = 0.5
"""Periods of the cutoff, to either side of a reversal, in which the filter smooths it."""

PASSAGE = 1.5
"""Periods of the cutoff over which the weight goes from 0 to 1, to either side of their middle."""

SLOW_FRACTION = 0.2
"""A contact sticks, as far as can be seen, below this fraction of the velocity that its rms
acceleration gives it in `HALF_WIDTH` periods."""

SIGN_DEVIATIONS = 2.0
"""Of the noise of a velocity, within which its sign is not known."""

MIN_COUNTED = 0.25
"""Fraction of a joint's samples that must count; with fewer, all of them do."""


def moving_weights(
    dq: Array, ddq: Array, resolution: Array, rubs: NDArray[np.bool_], rate: float, cutoff: float
) -> Array:
    """(N, n) weights of the equations of n joints, 0 to 1, for the filtered velocities and
    accelerations (N, c) of c contacts.

    `resolution` (c,) is the smallest step that their positions show, rad or m; `rubs` (n, c) says
    which contact acts on which joint; `rate` and `cutoff` are in Hz.
    """
    slow = SLOW_FRACTION * HALF_WIDTH * np.sqrt(np.mean(ddq**2, axis=0)) / cutoff
    unclear = np.abs(dq) <= np.maximum(slow, resolution * cutoff)
    reverses = dq[1:] * dq[:-1] <= 0
    unclear[1:] |= reverses
    unclear[:-1] |= reverses
    return _weights(unclear, rubs, rate, cutoff)


def signed_weights(
    dq: Array, noise: Array, rubs: NDArray[np.bool_], rate: float, cutoff: float
) -> Array:
    """The same where only samples are left out whose velocities dq (N, c), filtered at `cutoff`,
    are within their `noise` (c,), a standard deviation: the contact may stick, or slide either way.
    """
    return _weights(np.abs(dq) <= SIGN_DEVIATIONS * noise, rubs, rate, cutoff)


def _weights(
    unclear: NDArray[np.bool_], rubs: NDArray[np.bool_], rate: float, cutoff: float
) -> Array:
    """(N, n) 0 near the samples (N, c) of a joint's contacts that are unclear, 1 away from them."""
    passage = math.ceil(PASSAGE * rate / cutoff)
    reach = math.ceil(HALF_WIDTH * rate / cutoff) + passage
    near = np.pad(_within(unclear, reach).astype(float), ((passage, passage), (0, 0)), mode="edge")
    window = np.hanning(2 * passage + 3)[1:-1]
    window /= window.sum()
    smooth = [np.convolve(column, window, mode="valid") for column in near.T]
    sliding = 1.0 - np.clip(np.reshape(smooth, unclear.shape[::-1]).T, 0.0, 1.0)
    weights = np.ones((unclear.shape[0], rubs.shape[0]))
    for j, contacts in enumerate(rubs):
        of_joint = np.prod(sliding[:, contacts], axis=1)
        if np.mean(of_joint**2) >= MIN_COUNTED:
            weights[:, j] = of_joint
    return weights


def _within(marked: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """(N, c) whether a sample of the same column is marked, at most `reach` samples away."""
    N, columns = marked.shape
    count = np.vstack([np.zeros((1, columns), dtype=int), np.cumsum(marked, axis=0)])
    at = np.arange(N)
    return np.asarray(count[np.minimum(at + reach + 1, N)] > count[np.maximum(at - reach, 0)])
