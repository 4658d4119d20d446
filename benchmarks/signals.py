"""Decimation of W, beside SciPy's `decimate`, on the size of a six-joint record of 10 s at 1
kHz.
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from benchmarks.timing import Row, best
from didim.signals.decimation import Decimation

N_D, SAMPLES, COLUMNS = 20, 10_000, 212
"""Factor; samples; columns of the TX40's W that are not zero by structure, and its torques."""


def columns(samples: int = SAMPLES) -> np.ndarray:
    """Columns that wander, as those of W do."""
    return np.random.default_rng(0).standard_normal((samples, COLUMNS)).cumsum(axis=0)


def own(X: np.ndarray, filtering: Decimation) -> np.ndarray:
    """Decimated by didim."""
    return filtering.apply(len(X), lambda start, stop: X[start:stop])


def difference(X: np.ndarray, filtering: Decimation) -> float:
    """To SciPy's, relative, on the samples that both keep."""
    found, other = own(X, filtering), signal.decimate(X, N_D, axis=0)
    kept = filtering.kept(len(X)) // N_D
    return float(np.linalg.norm(found - other[kept]) / np.linalg.norm(other[kept]))


def rows() -> list[Row]:
    """Both conventions."""
    X, found = columns(), []
    for convention, target in (("scipy", ">= 4"), ("fir", ">= 10")):
        filtering = Decimation(N_D, convention)
        times = best(
            {
                "didim": lambda f=filtering: own(X, f),
                "peer": lambda: signal.decimate(X, N_D, axis=0),
            }
        )
        label = f'decimation of W by {N_D}, {SAMPLES} x {COLUMNS}, "{convention}"'
        found.append(
            Row(
                label,
                times["didim"],
                "scipy.signal.decimate",
                times["peer"],
                difference(X, filtering),
                target,
            )
        )
    return found
