"""A coarse search over a common factor on the assumed loop's bandwidth, where its gains are not known.

At each factor a few DIDIM steps are taken inside the physically consistent set, which is cheap and needs no sensitivities. What
they leave of the torque rises steadily away from the true bandwidth: the search goes downhill from the assumed one, by
factors of two, and away from loops that cannot be simulated at all, towards slower ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.identification.barrier import Problem, compressed
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.consistent import Consistent

Array = NDArray[np.float64]

RATIO = 2.0
"""Between neighbouring factors."""

FARTHEST = 4
"""Ratios that the search goes from the assumed bandwidth, either way."""

STEPS = 3
"""Of DIDIM at each factor."""


def consistent_didim(
    model: BaseModel, closed: ClosedLoop, consistent: Consistent, loop: Controller, theta: Array, steps: int = STEPS
) -> tuple[Array, Simulated] | None:
    """The best of a few DIDIM steps (48) inside the set, and its simulation; None where not even the start can be simulated."""
    closed.cut_for(model, model.matrix @ theta, loop)
    now = closed.simulate(model, model.matrix @ theta, loop)
    if isinstance(now, str):
        return None
    best = (theta, now)
    for _ in range(steps):
        system = closed.system(model, now)
        count = np.maximum(np.bincount(system.joint, minlength=system.n), 1)
        weights = (np.sqrt(count) / np.maximum(now.errors, 1e-9 * now.sizes + 1e-300))[system.joint]
        R, target = compressed(system, weights)
        proposed, _ = Problem(consistent, model.matrix, R, target, np.zeros(0), np.zeros(0)).solve(theta, np.zeros(0))
        for share in (1.0, 0.5, 0.25):
            trial = theta + share * (proposed - theta)
            found = closed.simulate(model, model.matrix @ trial, loop)
            if not isinstance(found, str):
                break
        else:
            break
        theta, now = trial, found
        if left(now) < left(best[1]):
            best = (theta, now)
    return best


def left(simulated: Simulated) -> float:
    """What is left of the torque, rms over the joints."""
    return float(np.sqrt(np.mean(simulated.by_joint**2)))


def scanned(
    model: BaseModel, fresh: Callable[[], ClosedLoop], consistent: Consistent, loop: Controller, theta: Array
) -> dict[float, float]:
    """What is left of the torque at each factor, infinite where nothing can be simulated; `fresh` makes new closed loops."""
    found: dict[int, float] = {}

    def look(k: int) -> float:
        if k not in found:
            at = consistent_didim(model, fresh(), consistent, loop.faster(RATIO**k), theta)
            found[k] = np.inf if at is None else left(at[1])
        return found[k]

    best, blind = 0, not np.isfinite(look(0))
    while abs(best) < FARTHEST:
        near = min((best - 1, best + 1) if not blind else (best - 1,), key=look)
        if look(near) >= look(best) and not blind:
            break
        best, blind = near, not np.isfinite(look(near))
    return {RATIO**k: value for k, value in sorted(found.items())}
