"""A coarse search over a common factor on the assumed loop's bandwidth, where its gains are not
known.

At each factor a few DIDIM steps are taken inside the physically consistent set, which is cheap and
needs no sensitivities. What they leave of the torque rises steadily away from the true bandwidth:
the search goes downhill from the assumed one, by factors of two, away from loops that cannot be
simulated at all, towards slower ones, and from those that move nothing, towards stiffer ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.barrier import Problem
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.system import LinearSystem, compressed

Array = NDArray[np.float64]

RATIO = 2.0
"""Between neighbouring factors."""

FARTHEST = 7
"""Ratios that the search goes from the assumed bandwidth, either way."""

PLATEAU = 0.8
"""Share of the torque that a loop which is far too soft leaves, whatever its bandwidth: only a
stiffer one can do better.
"""

STEPS = 3
"""Of DIDIM at each factor."""


def consistent_didim(
    model: BaseModel,
    closed: ClosedLoop,
    consistent: Consistent,
    loop: Controller,
    theta: Array,
    steps: int = STEPS,
) -> tuple[Array, Simulated] | None:
    """The best of a few DIDIM steps (48) inside the set, and its simulation; None where not even
    the start can be simulated.
    """
    closed.cut_for(model, model.matrix @ theta, loop)
    now = closed.simulate(model, model.matrix @ theta, loop)
    if isinstance(now, str):
        return None
    best = (theta, now)
    for _ in range(steps):
        system = closed.system(model, now)
        R, target = compressed(system, _weights(system, model.matrix @ theta))
        proposed, _ = Problem(consistent, model.matrix, R, target, np.zeros(0), np.zeros(0)).solve(
            theta, np.zeros(0)
        )
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


def _weights(system: LinearSystem, beta: Array) -> Array:
    """(r,) 1 over the rms torque error of each row's joint."""
    rho, count = system.residual(beta), np.maximum(np.bincount(system.joint, minlength=system.n), 1)
    rms, size = (
        np.sqrt(np.bincount(system.joint, x**2, system.n) / count) for x in (rho, system.y)
    )
    return np.asarray(1.0 / np.maximum(rms, np.maximum(1e-9 * size, 1e-150)))[system.joint]


def left(simulated: Simulated) -> float:
    """What is left of the outputs, rms over the joints."""
    return float(np.sqrt(np.mean(simulated.by_joint**2)))


def scanned(
    model: BaseModel,
    fresh: Callable[[], ClosedLoop],
    consistent: Consistent,
    loop: Controller,
    theta: Array,
) -> dict[float, float]:
    """What is left of the torque at each factor, infinite where nothing can be simulated; `fresh`
    makes new closed loops.
    """
    found: dict[int, float] = {}
    visited = {0}

    def look(k: int) -> float:
        if k not in found:
            at = consistent_didim(model, fresh(), consistent, loop.faster(RATIO**k), theta)
            found[k] = np.inf if at is None else left(at[1])
        return found[k]

    best = 0
    while abs(best) < FARTHEST:
        near = best - 1 if not np.isfinite(look(best)) else min((best - 1, best + 1), key=look)
        if PLATEAU < look(best) < np.inf and look(near) > PLATEAU:
            near = best + 1
        elif look(near) >= look(best) and np.isfinite(look(best)):
            break
        best = near
        if best in visited:
            break
        visited.add(best)
    return {RATIO**k: value for k, value in sorted(found.items())}
