"""The least of a convex quadratic function over the physically consistent set: a primal-dual
interior-point method with Mehrotra's predictor and corrector.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.cone_program import Point, Quadratic, Region
from didim.dynamics.nesterov_todd import Scaling

Array = NDArray[np.float64]

_MAX_STEPS = 100
_BOUNDARY_FRACTION = 0.98
"""Fraction of the distance to the boundary that one step may go."""

_MIN_REDUCTION = 1e-3
"""Of mu, in one step."""

_PULL = 1e-3
"""Weight of the trace terms over mu at the end. Where the least value is only approached as masses
grow without end, the cost that is found exceeds it as the root of this weight.
"""

_UNMET = 1e-6
"""Fraction of the first error of the multipliers' equations that may be left."""


def minimise(
    cost: Quadratic,
    region: Region,
    start: Array,
    accuracy: float,
    done: Callable[[Array], bool] | None = None,
) -> Array:
    """u (m,) from a `start` inside the region, where the cost exceeds its least value by no more
    than about `accuracy`; `done` may end the search earlier.
    """
    theta = region.theta(start)
    bodies, x = region.consistent.bodies(theta), region.single(theta, start)
    order = 4 * len(bodies) + x.size
    mu = max(1.0, abs(cost.value(start)) / order)
    Z = mu * np.asarray(np.linalg.inv(bodies), dtype=np.float64)
    point, unmet = Point(cost, region, start, Z, mu / x, _PULL * accuracy / order), 1.0
    for _ in range(_MAX_STEPS):
        if point.products <= accuracy and unmet <= _UNMET:
            break
        if done is not None and done(point.u):
            break
        try:
            scaling = Scaling(point)
            ahead = scaling.step(0.0)
            rest = 1.0 - min(1.0, scaling.reach(ahead))
            step = scaling.step(max(rest**3, _MIN_REDUCTION) * point.mu, ahead)
        except linalg.LinAlgError:  # so near to the boundary that rounding decides
            break
        fraction = min(1.0, _BOUNDARY_FRACTION * scaling.reach(step))
        following = scaling.moved(step, fraction)
        if not 0.0 < following.products < np.inf:
            break
        point, unmet = following, unmet * (1.0 - fraction)
    return point.u
