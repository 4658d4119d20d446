"""How far simulated motions are from the reference and from the measured ones (Fig. 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.simulation.motion import Motion

Array = NDArray[np.float64]
MotionSignals = tuple[Array, ...]
"""q, dq and ddq of a motion, each (N, n)."""


@dataclass(frozen=True, eq=False)
class Distance:
    """Relative distance of the simulated motion to another one, by joint: ||q_s - q|| / ||q||, and
    the same of dq and ddq.
    """

    q: Array
    """(n,)."""
    dq: Array
    ddq: Array


def distance(
    motions: Sequence[Motion],
    others: Sequence[MotionSignals],
    samples: Sequence[tuple[int, int]],
    every: int,
) -> Distance:
    """How far simulated motions are from others, over the samples (first, one past the last) of
    each record; of both only every so-manieth sample counts, and `others` hold only these.

    Implements (40).
    """
    ratios = []
    for k, name in enumerate(("q", "dq", "ddq")):
        ours, theirs = [], []
        for motion, other, (start, stop) in zip(motions, others, samples, strict=True):
            used = slice(-(-start // every), -(-stop // every))
            ours.append(getattr(motion, name)[::every][used])
            theirs.append(other[k][used])
        size = _norms(theirs)
        apart = _norms([one - two for one, two in zip(ours, theirs, strict=True)])
        ratios.append(apart / np.where(size > 0, size, 1.0))
    return Distance(*ratios)


def _norms(signals: Sequence[Array]) -> Array:
    """(n,) norm of each column of signals (N, n), one after the other."""
    return np.asarray(np.sqrt(sum(np.einsum("kj,kj->j", each, each) for each in signals)))
