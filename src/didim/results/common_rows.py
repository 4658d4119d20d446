"""What several methods leave of one record, on the same rows: their own differ by filters, cuts and
`rest_velocity`, and so would the figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.errors import InfeasibleError, InputError
from didim.results.estimate import Estimate
from didim.results.provenance import data_hash
from didim.results.validation import compared_rows, relative_norms
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.resample import regular
from didim.signals.rows import RowSelection
from didim.signals.states import States, measured_states, reference_states

Array = NDArray[np.float64]


def errors_on_common_rows(estimates: Sequence[Estimate], experiment: Experiment) -> list[float]:
    """||Y - Y_e|| / ||Y|| of each estimate on a record, over the rows in which a joint moves that
    all of them can predict; infinite where one cannot predict it.
    """
    even = regular(experiment)
    t, tau = np.asarray(even.t), measured_torque(even)
    first = estimates[0].preprocessing.selection
    selection = RowSelection(first.decimation, first.decimate, ends=False)
    windows = [predictable_samples(each, t) for each in estimates]
    window = max(start for start, _ in windows), min(stop for _, stop in windows)
    motion = _motion(estimates, even)
    return [_error(each, experiment, t, tau, motion, selection, window) for each in estimates]


def _error(
    estimate: Estimate,
    experiment: Experiment,
    t: Array,
    tau: Array,
    motion: States,
    selection: RowSelection,
    window: tuple[int, int],
) -> float:
    known = estimate.predictions.get(data_hash(experiment))
    try:
        torque = estimate.predict(experiment) if known is None else known.torque
    except (InputError, InfeasibleError):
        return np.inf
    found = np.column_stack([np.interp(t, np.asarray(experiment.t), each) for each in torque.T])
    rows = compared_rows(selection, window, t, tau, found, motion, torque)
    counted = rows.moves if rows.moves.any() else rows.used
    return relative_norms(rows.y - rows.found, rows.y, counted)[0]


def predictable_samples(estimate: Estimate, t: Array) -> tuple[int, int]:
    """The samples that a method can predict of a record with the times t."""
    given = estimate.preprocessing
    return given.selection.window(t, given.transient, given.edge(t))


def _motion(estimates: Sequence[Estimate], record: Experiment) -> States:
    """From the measured positions, else of the reference."""
    if record.q is None:
        return reference_states(record)
    cutoffs = [each.preprocessing.cutoff for each in estimates if each.preprocessing.cutoff]
    return measured_states(record, cutoffs[0] if cutoffs else None)
