"""Torques s(t) at the times of a record, by joint; each times an unknown that is zero, so that its
sensitivity is how the loop answers it.

They are asked for a few seconds at a time: those of all suspects of a long record would need more
memory than everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Disturbances:
    """S torques that belong to `count` unknowns."""

    count: int
    place: NDArray[np.int64]
    """(2, S) joint, and unknown, from 0, of each torque."""
    torques: Callable[[int, int], Array]
    """(stop - start, S) N.m or N, at the samples from start to stop."""

    def during(self, time: Array, start: float, end: float) -> dict[str, Any]:
        """Fields of a `Tangent`: the torques from start to end, s, and their times; `time` (N,) are
        those of the record.
        """
        first = max(int(np.searchsorted(time, start)) - 2, 0)
        stop = min(int(np.searchsorted(time, end)) + 2, time.size)
        first = min(first, max(stop - 2, 0))
        return {
            "disturbance": np.ascontiguousarray(self.torques(first, stop)),
            "time": np.ascontiguousarray(time[first:stop]),
            "cursor": np.zeros(1, dtype=np.int64),
        }


def _none(start: int, stop: int) -> Array:
    return np.zeros((stop - start, 0))


NO_DISTURBANCES = Disturbances(0, np.zeros((2, 0), dtype=np.int64), _none)


def disturbances_of(signals: Sequence[Mapping[int, Array]]) -> Disturbances:
    """Those of signals (N,) that are at hand, by joint, for each unknown."""
    acting = [(j, k, s) for k, each in enumerate(signals) for j, s in each.items()]
    place = np.array([each[:2] for each in acting], dtype=np.int64).reshape(-1, 2).T

    def torques(start: int, stop: int) -> Array:
        return np.column_stack([s[start:stop] for *_, s in acting])

    return Disturbances(len(signals), np.ascontiguousarray(place), torques)
