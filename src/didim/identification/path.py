"""Where a sequence of shrinking steps leads: Anderson's extrapolation of a fixed-point iteration.

DIDIM repeats chi -> g(chi), simulate and solve. Near its end the steps f = g(chi) - chi shrink by
the same factor each, slowly where the gains follow the parameters (59). A linear combination of the
last ones that cancels them is a better guess of the same fixed point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEPTH = 2
"""Earlier steps that are looked at."""

SMALL = 0.5
"""Steps larger than this, relative to the parameters' own scale, are not extrapolated: the map is
not linear there.
"""


class Path:
    """The iterates chi and their images g(chi)."""

    def __init__(self) -> None:
        self._from: list[Array] = []
        self._to: list[Array] = []

    def extrapolated(self, parameters: Array, proposed: Array, scale: Array) -> Array:
        """Where to go from `parameters`, where the iteration proposes `proposed`; all (b,),
        compared in units of `scale`.
        """
        step = (proposed - parameters) / scale
        if np.abs(step).max() > SMALL:
            self._from, self._to = [], []
        self._from, self._to = [*self._from[-DEPTH:], parameters], [*self._to[-DEPTH:], proposed]
        if len(self._to) < 2:
            return proposed
        steps = [(to - at) / scale for at, to in zip(self._from, self._to, strict=True)]
        change = np.column_stack([step - earlier for earlier in steps[:-1]])
        share, *_ = np.linalg.lstsq(change, step, rcond=1e-3)
        return np.asarray(
            proposed - np.column_stack([proposed - earlier for earlier in self._to[:-1]]) @ share
        )
