"""What the exact method looks for beside the parameters: the loop's gains, in logarithms, and a
delay of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller, Gains
from didim.simulation.directions import GAINS

Array = NDArray[np.float64]

GAIN_SPREAD = 0.7
"""Standard deviation, in logarithms, with which gains are believed to be the assumed ones."""

GAIN_STEP = 0.5
"""Largest change of a gain in one step, in logarithms."""

DELAY_SPREAD = 0.02
"""s."""

DELAY_STEP = 0.01
"""s."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """z (e,): logarithms of gain factors in the order of the Jacobian's columns, then the delay,
    s.
    """

    controller: Controller | None
    """The loop at z = 0."""
    start: Gains | None
    """Its gains; None: they are known, or follow the parameters."""
    delay: bool

    @property
    def gains(self) -> list[tuple[str, int]]:
        """Kind and joint of each gain that is looked for: those that are not zero."""
        if self.start is None:
            return []
        return [(kind, int(j)) for kind in GAINS for j in np.flatnonzero(getattr(self.start, kind))]

    @property
    def count(self) -> int:
        """e."""
        return len(self.gains) + self.delay

    @property
    def spread(self) -> Array:
        """(e,) how far z is believed to be from zero."""
        return np.array([GAIN_SPREAD] * len(self.gains) + [DELAY_SPREAD] * self.delay)

    @property
    def bound(self) -> Array:
        """(e,) largest step."""
        return np.array([GAIN_STEP] * len(self.gains) + [DELAY_STEP] * self.delay)

    def values(self, z: Array) -> Array:
        """(gains,) in their own units."""
        return np.array([getattr(self.start, kind)[j] for kind, j in self.gains]) * np.exp(
            z[: len(self.gains)]
        )

    def loop(self, z: Array) -> Controller | None:
        """The loop with these gains."""
        if self.start is None or self.controller is None:
            return self.controller
        found = {kind: getattr(self.start, kind).copy() for kind in GAINS}
        for (kind, j), value in zip(self.gains, self.values(z), strict=True):
            found[kind][j] = value
        return self.controller.with_gains(Gains(**found, ff=self.start.ff))

    def late(self, z: Array) -> float | None:
        """The delay, s; None where it is not looked for."""
        return float(z[-1]) if self.delay else None

    def slopes(self, z: Array, b: int) -> Array:
        """(b + e,) by which columns of the Jacobian are multiplied: gains are looked for in
        logarithms.
        """
        return np.concatenate([np.ones(b), self.values(z), np.ones(int(self.delay))])
