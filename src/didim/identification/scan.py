"""A coarse search over a common factor on the assumed loop's bandwidth, where its gains are not known.

At each factor a few DIDIM steps are taken inside the physically consistent set, which is cheap and needs no sensitivities;
what they leave of the torque rises steadily away from the true bandwidth.
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

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Of the assumed bandwidth."""

BEYOND = 2.0
"""By which the search goes on beyond its ends, at most twice."""

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
    found: dict[float, float] = {}

    def look(factor: float) -> None:
        at = consistent_didim(model, fresh(), consistent, loop.faster(factor), theta)
        found[factor] = np.inf if at is None else left(at[1])

    for factor in FACTORS:
        look(factor)
    for _ in range(2):
        best = min(found, key=lambda factor: found[factor])
        if best not in (min(found), max(found)) or not np.isfinite(found[best]):
            break
        look(best * BEYOND if best == max(found) else best / BEYOND)
    return found
