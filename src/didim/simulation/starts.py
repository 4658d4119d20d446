"""Where the simulation of a record starts: as measured, or by a parabola through its first
positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.signals.experiment import Experiment
from didim.signals.states import measured_positions

Array = NDArray[np.float64]
Start = tuple[ArrayLike, ArrayLike] | str | None
"""Initial state of the simulations: None, "tracking", "measured" or (q, dq)."""

MEASURED = "measured"

START_SAMPLES = 50
"""Samples that the initial state of an open loop is taken from."""


def measured_start(record: Experiment) -> tuple[Array, Array]:
    """Position and velocity at the first sample: as they were measured, a velocity that was not by
    a parabola through the first positions.
    """
    q = measured_positions(record, 'start="measured"')
    return q[0], first_state(record)[1] if record.dq is None else record.dq[0]


def first_state(record: Experiment) -> tuple[Array, Array]:
    """Position and velocity at the first sample: a parabola through the first positions."""
    t, q = np.asarray(record.t), np.asarray(record.q)
    few = slice(0, min(START_SAMPLES, t.size))
    fit = np.polynomial.polynomial.polyfit(t[few] - t[0], q[few], 2)
    return fit[0], fit[1]
