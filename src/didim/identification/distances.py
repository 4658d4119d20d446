"""How far a simulated motion is from the reference and from the measured motion (Fig. 11)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.results.history import Distance, distance
from didim.signals.filters import estimated_motion
from didim.signals.resample import period_of

Array = NDArray[np.float64]

_MEASURED_CUTOFF = 0.1
"""Of the sampling rate: cut of the filter of measured positions that distances are taken to."""


_ENOUGH = 100_000
"""Samples that a distance is taken over: of longer records every second, third, ... sample."""


class Distances:
    """Of the simulations of a run; what they are compared with is computed once."""

    def __init__(self, closed: ClosedLoop) -> None:
        self.closed = closed
        self.every = max(1, sum(np.size(record.t) for record in closed.records) // _ENOUGH)
        self.reference = [
            course.sample(np.asarray(record.t)[:: self.every])
            for course, record in zip(closed.courses, closed.records, strict=True)
        ]
        rates = [1.0 / period_of(np.asarray(record.t)) for record in closed.records]
        self.measured = [
            self._thinned(estimated_motion(np.asarray(record.q), rate, _MEASURED_CUTOFF * rate))
            for record, rate in zip(closed.records, rates, strict=True)
            if record.q is not None
        ]

    def _thinned(self, motion: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        q, dq, ddq = (each[:: self.every].copy() for each in motion)
        return q, dq, ddq

    def to_reference(self, simulated: Simulated) -> Distance:
        """To the reference, over the windows used."""
        return self._distance(simulated, self.reference)

    def to_measured(self, simulated: Simulated) -> Distance | None:
        """To the measured motion, filtered and differentiated; None where positions were not
        measured.
        """
        if len(self.measured) < len(self.closed.records):
            return None
        return self._distance(simulated, self.measured)

    def _distance(
        self, simulated: Simulated, others: Sequence[tuple[Array, Array, Array]]
    ) -> Distance:
        ours: list[list[Array]] = [[], [], []]
        theirs: list[list[Array]] = [[], [], []]
        for motion, other, (start, stop) in zip(
            simulated.motions, others, self.closed.windows, strict=True
        ):
            used = slice(-(-start // self.every), -(-stop // self.every))
            for k, (one, two) in enumerate(
                zip((motion.q, motion.dq, motion.ddq), other, strict=True)
            ):
                ours[k].append(one[:: self.every][used])
                theirs[k].append(two[used])
        first, second = (
            (np.vstack(x[0]), np.vstack(x[1]), np.vstack(x[2])) for x in (ours, theirs)
        )
        return distance(first, second)
