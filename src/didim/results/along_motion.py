"""The torque of inverse dynamics (1) along the measured positions, beside the recorded one.

A method that simulates the loop predicts records in that same loop; where the loop is wrong, its
errors and those of the parameters can cancel. Along the measured motion they cannot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.errors import InputError
from didim.results.validation import AlongMotion, ComparedRows, compared_rows, relative_norms
from didim.signals.experiment import Experiment
from didim.signals.filters import reach
from didim.signals.noise import acceleration_noise, few_samples
from didim.signals.resample import period_of
from didim.signals.rows import RowSelection
from didim.signals.states import measured_states

Array = NDArray[np.float64]

ROW_RATE = 20.0
"""Rows a second, where the fit decimated nothing: accelerations are never compared unfiltered."""

MAX_POSITION_NOISE = 0.03
"""Fraction of a torque that noise of the positions may make."""

CUTOFF_FRACTION = 2.0
"""Cutoff of the position filter, over that of the decimation filter: what it takes away, the
decimation has already taken away.
"""


def rows_along_motion(
    model: BaseModel, parameters: Array, record: Experiment, decimation: int, transient: float
) -> ComparedRows | None:
    """The rows of a record on a regular clock with positions, beside the torque of the model; None
    where the positions are too few or too noisy to be differentiated.
    """
    t, q, tau = (np.asarray(each) for each in (record.t, record.q, record.tau))
    rate = 1.0 / period_of(t)
    selection = RowSelection(
        decimation if decimation > 1 else max(1, round(rate / ROW_RATE)), "fir"
    )
    band = selection.decimator.cutoff * rate
    cutoff = min(CUTOFF_FRACTION * band, 0.4 * rate)
    try:
        states = measured_states(record, cutoff)
        window = selection.window(t, transient, 2 * max(1, reach(rate, cutoff)))
    except InputError:  # too short to be filtered
        return None
    size = np.sqrt(np.mean(tau**2, axis=0))
    noise = largest_inertias(model, parameters) * acceleration_noise(q, rate, band)
    if np.any((noise > MAX_POSITION_NOISE * size) | few_samples(states.dq)):
        return None
    motion = states.q, states.dq, states.ddq, parameters, None, states.signals
    found = model.inverse_dynamics(*motion)
    return compared_rows(selection, window, t, tau, found, states, found)


def along_motion(record: Experiment, rows: ComparedRows) -> AlongMotion | None:
    """What is left of these rows; None where no joint moves."""
    if not rows.moves.any():
        return None
    return AlongMotion(record.name, *relative_norms(rows.y - rows.found, rows.y, rows.moves))
