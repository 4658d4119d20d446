"""Check of the scales of a record against the description and of its torques against each other:
factors on torques, the clock, zeros of positions, and missing rotors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from didim.checks.data import CheckData
from didim.checks.excitation import MIN_NYQUIST_RATIO
from didim.checks.finding import Finding, unjudged
from didim.errors import InputError
from didim.regression.least_squares import fit
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem, observe, stack
from didim.regression.torque_factors import torque_factors
from didim.results.description import compare, same_for_all
from didim.results.scale_doubts import MAX_FACTOR, compared, scale_doubts
from didim.results.scale_notes import sentence
from didim.signals.rows import RowSelection

MIN_ROWS = 200
"""Of each joint, that decimation leaves where the record has so many."""

_DESCRIBE = "a description with masses lets factors on torques, clock and zeros be seen."


def scale(records: Sequence[CheckData]) -> Iterator[Finding]:
    """What gravity torques and inertias say beside the described ones."""
    if not all(data.is_measured for data in records):
        yield unjudged("scale", "no measured positions", "name columns.q.")
        return
    base = records[0].model.base
    try:
        system = stack([equations(data, k) for k, data in enumerate(records)])
        solution = fit(system, "wls")
    except InputError:
        yield unjudged("scale", "the record is too short", "record a longer motion.")
        return
    covariance = statistics(system, solution).corrected
    q = np.vstack([data.even.q[data.inner] for data in records if data.even.q is not None])
    found = compare(base, q, *same_for_all(base, solution.values, covariance))
    factors = torque_factors(system, solution, solution.values, MAX_FACTOR)
    doubts = scale_doubts(base, found, factors)
    for doubt in doubts:
        seen, cause = sentence(base, doubt)
        yield Finding("scale", "warn", seen, cause)
    if doubts:
        return
    if found is None:
        yield unjudged("scale", "the links are not described", _DESCRIBE)
        return
    judged = np.flatnonzero(np.logical_or(*compared(found)))
    if judged.size:
        text = "by gravity or inertia, the torques are those of the description"
        yield Finding("scale", "pass", f"{text}: {records[0].listed(judged)}")
    else:
        yield unjudged("scale", "gravity and inertia are not certain enough", "move faster.")


def equations(data: CheckData, series: int) -> LinearSystem:
    """W of the measured motion, filtered and decimated down to its band: noise in the accelerations
    would make inertias too small.
    """
    if data.states is None:
        raise InputError("no motion")
    factor = int(0.5 * data.rate / max(MIN_NYQUIST_RATIO * data.band, 1e-9 * data.rate))
    window = data.inner.indices(data.even.t.size)[:2]
    factor = max(1, min(factor, (window[1] - window[0]) // MIN_ROWS))
    selection = RowSelection(factor, "fir")
    return observe(data.model.base, data.states, data.even_tau, selection, window, series)
