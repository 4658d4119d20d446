"""Anderson's acceleration of an iteration chi -> g(chi): where repeated steps lead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Path = tuple[tuple[Array, Array], ...]
"""Pairs of an iterate and what least squares made of it, oldest first."""

ANDERSON_DEPTH = 2
"""Earlier steps that are combined."""

ANDERSON_LARGEST_STEP = 0.5
"""Steps larger than this, relative to the parameters' own scale, are not extrapolated: the map is
not linear there.
"""


def extended(path: Path, parameters: Array, proposed: Array, scale: Array) -> Path:
    """The path with the pair (chi, g(chi)) appended; it begins anew after a large step."""
    if np.abs((proposed - parameters) / scale).max() > ANDERSON_LARGEST_STEP:
        path = ()
    return (*path[-ANDERSON_DEPTH:], (parameters, proposed))


def extrapolated(path: Path, scale: Array) -> Array:
    """Anderson's acceleration: (b,) where the path of the iteration chi -> g(chi) leads.

    Near the end the steps f = g(chi) - chi shrink by the same factor each, slowly where the gains
    follow the parameters (59). The linear combination of the last ones that cancels them is a
    better guess of the same fixed point.
    """
    steps = [(to - at) / scale for at, to in path]
    proposed = path[-1][1]
    if len(path) < 2:
        return proposed
    change = np.column_stack([steps[-1] - earlier for earlier in steps[:-1]])
    weights, *_ = np.linalg.lstsq(change, steps[-1], rcond=1e-3)
    earlier = np.column_stack([proposed - to for _, to in path[:-1]])
    return np.asarray(proposed - earlier @ weights)
