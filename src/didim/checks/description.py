"""Check of the scales of a record against the description: factors on torques, the clock, zeros
of positions, and missing rotors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from didim.checks.data import CheckData
from didim.checks.excitation import fitted
from didim.checks.finding import Finding, unjudged
from didim.regression.least_squares import fit
from didim.regression.statistics import statistics
from didim.results.description import compare, same_for_all
from didim.results.scale_doubts import compared, scale_doubts, sentence

ROUGH = 2.0
"""Times the standard deviations of a fit that is made of single samples, neither filtered nor
decimated.
"""

_DESCRIBE = "a description with masses lets factors on torques, clock and zeros be seen."


def scale(records: Sequence[CheckData]) -> Iterator[Finding]:
    """What gravity torques and inertias say beside the described ones."""
    if not all(data.is_measured for data in records):
        yield unjudged("scale", "no measured positions", "name columns.q.")
        return
    if (system := fitted(records, measured=True)) is None:
        return
    base = records[0].model.base
    equations, motions = system
    solution = fit(equations, "wls")
    covariance = ROUGH**2 * statistics(equations, solution).corrected
    found = compare(base, np.vstack(motions), *same_for_all(base, solution.values, covariance))
    if found is None:
        yield unjudged("scale", "the links are not described", _DESCRIBE)
        return
    doubts = scale_doubts(base, found)
    for doubt in doubts:
        seen, cause = sentence(base, doubt)
        yield Finding("scale", "warn", seen, cause)
    if doubts:
        return
    judged = np.flatnonzero(np.logical_or(*compared(found)))
    if judged.size:
        text = "by gravity or inertia, the torques are those of the description"
        yield Finding("scale", "pass", f"{text}: {records[0].listed(judged)}")
    else:
        yield unjudged("scale", "gravity and inertia are not certain enough", "move faster.")
