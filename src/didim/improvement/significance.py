"""Whether a record identifies what was added to a structure: every effect that was added differs
from zero, and no parameter that was identified before is lost to it.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, special

from didim.results.doubts import weak_parameters
from didim.results.estimate import Estimate
from didim.results.lack_of_fit import LEVEL

LOST = 30.0
"""Times its first sigma beyond which a parameter that is not significant any more is lost."""


def lost_parameters(before: Estimate, after: Estimate) -> list[str]:
    """Parameters that the record identified, and in a larger structure does not: something was
    added that it cannot distinguish from them, such as a ripple of one period in a turn from
    gravity.
    """
    weak = set(weak_parameters(after)) - set(weak_parameters(before))
    old, new = (dict(zip(each.names, each.sigma, strict=True)) for each in (before, after))
    return [name for name in before.names if name in weak and new[name] > LOST * old[name]]


def insignificant_effects(before: Estimate, after: Estimate) -> list[str]:
    """Effects that the larger structure has more, whose parameters theta (k,) may all be zero.

    theta' C^-1 theta, with C (k, k) the covariance corrected for the colour of the residuals, is
    chi-square with k degrees of freedom where they are: the test of Wald. The test of the score,
    which named the effect, holds its shapes; here they are estimated, and so may be an order of a
    ripple that the record hardly shows.
    """
    known = {each.effect for each in before.model.full.parameters}
    places: dict[str, list[int]] = {}
    for each in after.model.full.parameters:
        if each.effect is not None and each.effect not in known and each.name in after.names:
            places.setdefault(each.effect, []).append(after.names.index(each.name))
    return [name for name, at in places.items() if _p_value(after, at) > LEVEL]


def _p_value(estimate: Estimate, places: list[int]) -> float:
    """Of all these parameters being zero."""
    theta = estimate.values[places]
    C = estimate.corrected_covariance[np.ix_(places, places)]
    if not np.all(np.isfinite(C)):
        return 1.0
    statistic = float(theta @ linalg.pinvh(C) @ theta)
    return float(special.chdtrc(len(places), statistic))
