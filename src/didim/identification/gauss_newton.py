"""The exact method: the output error (22)-(34) minimised by Gauss-Newton steps with the exact Jacobian.

Each step linearises the simulated outputs with their sensitivities, solves the convex problem of `barrier.py` inside the set
of parameters that a machine can have, and is halved until the simulation finishes and the error falls; weights are those of
the point that it starts from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.identification.barrier import MU, Problem, compressed
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.consistent import Consistent
from didim.identification.system import LinearSystem
from didim.identification.unknowns import Unknowns
from didim.results.history import Iteration

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

HALVINGS = 8
"""How often a step is halved before the iteration gives up."""

QUIET = 1e-3
"""Relative fall of the squared error that counts as none; two such steps end the iteration."""

SETTLED = 0.1
"""A step whose length, in units of the standard deviations, squared, is below this has arrived."""


@dataclass(frozen=True, eq=False)
class Place:
    """A point of the iteration: parameters, further unknowns, and what was simulated with them."""

    theta: Array
    """(p,) standard parameters, physically consistent."""
    z: Array
    """(e,) see `Unknowns`."""
    simulated: Simulated
    system: LinearSystem
    """rho = J step + rest; columns of gains in logarithms."""

    @property
    def deviations(self) -> Array:
        """(g,) rms error of each joint and output."""
        count = np.maximum(np.bincount(self.system.joint, minlength=self.system.n), 1)
        rms = self.simulated.errors / np.sqrt(count)
        return np.maximum(rms, 1e-9 * np.maximum(self.simulated.sizes / np.sqrt(count), 1e-300))


class Exact:
    """One run of the exact method."""

    def __init__(self, model: BaseModel, closed: ClosedLoop, consistent: Consistent, unknowns: Unknowns) -> None:
        self.model, self.closed, self.consistent, self.unknowns = model, closed, consistent, unknowns
        self.history: list[Iteration] = []
        self.clock = time.perf_counter()

    def at(self, theta: Array, z: Array, share: float = 1.0, guards: tuple[str, ...] = ()) -> Place | str:
        """The records simulated and differentiated at a point, or what went wrong."""
        loop = self.unknowns.loop(z)
        beta = self.model.matrix @ theta
        if loop is not None:
            self.closed.cut_for(self.model, beta, loop, shrink=True)
        found = self.closed.differentiate(self.model, beta, loop, self.unknowns.start is not None, self.unknowns.late(z))
        if isinstance(found, str):
            return found
        simulated, system = found
        system = replace(system, W=system.W * self.unknowns.slopes(z, beta.size))
        now = time.perf_counter()
        n, names, values = self.model.robot.n, self.unknowns.gains, self.unknowns.values(z)
        gains = {kind: np.zeros(n) for kind, _ in names}
        for (kind, j), value in zip(names, values, strict=True):
            gains[kind][j] = value
        self.history.append(
            Iteration(
                beta, simulated.residual, simulated.by_joint[:n], gains, share, guards, seconds=now - self.clock, stage="exact"
            )
        )
        self.clock = now
        return Place(theta, z, simulated, system)

    def run(self, place: Place, most: int, progress: Progress | None = None) -> tuple[Place, str, str]:
        """Iterate; the last point, a status and its message."""
        quiet = 0
        for k in range(1, most + 1):
            found, fall, length = self._step(place)
            if found is None:
                if length < max(SETTLED, 0.02 * place.system.W.shape[1]) or quiet:
                    return place, "converged", f"The error settled after {k - 1} steps with the exact Jacobian."
                return place, "diverged", f"Step {k} with the exact Jacobian: no part of it lowers the error."
            place = found
            quiet = quiet + 1 if fall < QUIET else 0
            if length < SETTLED or quiet == 2:
                return place, "converged", f"The error settled after {k} steps with the exact Jacobian."
            answer = None if progress is None else progress(k / most)
            if answer is not None and not np.all(answer):
                return place, "stopped", f"Stopped on request after {k} steps."
        return place, "stopped", f"The limit of {most} iterations was reached before the error settled."

    def _step(self, place: Place) -> tuple[Place | None, float, float]:
        """The next point, the relative fall of the error, and the squared length of the full step in standard deviations."""
        deviations = place.deviations
        weights = (1.0 / deviations)[place.system.joint]
        R, rest = compressed(place.system, weights)
        now = np.concatenate([self.model.matrix @ place.theta, place.z])
        unknowns = self.unknowns
        problem = Problem(
            self.consistent,
            self.model.matrix,
            R,
            R @ now + rest,
            np.zeros(unknowns.count),
            unknowns.spread,
        )
        theta, z = problem.solve(place.theta, place.z)
        guards: list[str] = []
        far = np.abs(z - place.z) > unknowns.bound
        if far.any():
            z = np.clip(z, place.z - unknowns.bound, place.z + unknowns.bound)
            theta, z = problem.solve(place.theta, z, held=np.ones(z.size, dtype=bool))
            guards.append("change of gains bounded")
        step = np.concatenate([self.model.matrix @ theta, z]) - now
        length = float(np.sum((R @ step) ** 2))
        before = self._merit(place.theta, place.z, place.simulated, deviations)
        share, windows = 1.0, list(self.closed.windows)
        for _ in range(HALVINGS + 1):
            trial = place.theta + share * (theta - place.theta), place.z + share * (z - place.z)
            loop = unknowns.loop(trial[1])
            found = self.closed.simulate(self.model, self.model.matrix @ trial[0], loop, unknowns.late(trial[1]) or 0.0)
            if isinstance(found, str):
                reason = f"simulation failed ({found.rstrip('.')})"
            elif (after := self._merit(*trial, found, deviations)) < before:
                arrived = self.at(*trial, share, tuple(guards))
                if not isinstance(arrived, str):
                    fall = 2.0 * (before - after) / place.system.y.size
                    return arrived, fall if windows == list(self.closed.windows) else 1.0, length
                reason = arrived
            else:
                reason = "error would rise"
            share /= 2
            guards.append(f"step halved: {reason}")
        return None, 0.0, length

    def _merit(self, theta: Array, z: Array, simulated: Simulated, deviations: Array) -> float:
        """What a step must lower: half the squared errors in standard deviations, the barrier, and the pull on z."""
        error = simulated.errors / deviations
        pull = z / self.unknowns.spread
        return 0.5 * float(error @ error) + MU * self.consistent.value(theta) + 0.5 * float(pull @ pull)
