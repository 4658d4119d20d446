"""Points that fill a cube evenly: the sequence of Halton (J. H. Halton, 1960).

Those of SciPy's `stats.qmc.Halton` without scrambling; importing `stats` takes longer than a small
identification.
"""

from __future__ import annotations

from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def halton(dimensions: int, points: int) -> Array:
    """The first points (points, dimensions) of the sequence in the unit cube, the origin first."""
    primes = (k for k in count(2) if all(k % d for d in range(2, int(k**0.5) + 1)))
    columns = [_radical_inverse(points, base) for base in islice(primes, dimensions)]
    return np.reshape(columns, (dimensions, points)).T.copy()


def _radical_inverse(points: int, base: int) -> Array:
    """0, 1, 2, ... (points,) with their digits in this base mirrored at the point."""
    rest, found, weight = np.arange(points), np.zeros(points), 1.0
    while rest.any():
        weight /= base
        found += weight * (rest % base)
        rest //= base
    return found
