"""The exact method: the output error (22)-(34) minimised by Gauss-Newton steps with the exact
Jacobian.

Each step linearises the simulated outputs with their sensitivities, solves the convex problem of
`barrier.py` inside the set of parameters that a machine can have, and is halved until the
simulation finishes and the error falls; weights are those of the point that it starts from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.barrier import BARRIER_WEIGHT, Problem
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop, Simulated
from didim.identification.system import LinearSystem, compressed
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

    cut: float
    """s that were left out at the start of every record."""

    @property
    def deviations(self) -> Array:
        """(g,) rms error of each joint and output."""
        rms, size = (
            x / np.sqrt(np.maximum(self.simulated.counts, 1.0))
            for x in (self.simulated.errors, self.simulated.sizes)
        )
        return np.maximum(rms, np.maximum(1e-9 * size, 1e-150))


class Exact:
    """One run of the exact method.

    Implements (27).
    """

    def __init__(
        self, model: BaseModel, closed: ClosedLoop, consistent: Consistent, unknowns: Unknowns
    ) -> None:
        self.model, self.closed, self.consistent, self.unknowns = (
            model,
            closed,
            consistent,
            unknowns,
        )
        self.history: list[Iteration] = []
        self.clock = time.perf_counter()

    def at(self, theta: Array, z: Array) -> Place | str:
        """The records simulated and differentiated at a first point, or what went wrong."""
        self._cut(theta, z)
        place = self._differentiated(theta, z)
        if not isinstance(place, str):
            self._keep(place, 1.0, ())
        return place

    def _cut(self, theta: Array, z: Array) -> bool:
        """Leave out what the loop at a point needs to forget its initial state; whether other rows
        are used now.
        """
        loop, before = self.unknowns.loop(z), list(self.closed.windows)
        if loop is not None:
            self.closed.cut_for(self.model, self.model.matrix @ theta, loop, shrink=True)
        return before != list(self.closed.windows)

    def _differentiated(self, theta: Array, z: Array) -> Place | str:
        beta, unknowns = self.model.matrix @ theta, self.unknowns
        found = self.closed.differentiate(
            self.model, beta, unknowns.loop(z), unknowns.start is not None, unknowns.late(z)
        )
        if isinstance(found, str):
            return found
        simulated, system = found
        system = replace(system, W=system.W * unknowns.slopes(z, beta.size))
        return Place(theta, z, simulated, system, self.closed.transient)

    def _keep(self, place: Place, share: float, guards: tuple[str, ...]) -> None:
        """A line in the history."""
        now, n = time.perf_counter(), self.model.robot.n
        gains = {kind: np.zeros(n) for kind, _ in self.unknowns.gains}
        for (kind, j), value in zip(
            self.unknowns.gains, self.unknowns.values(place.z), strict=True
        ):
            gains[kind][j] = value
        left, beta = place.simulated, self.model.matrix @ place.theta
        self.history.append(
            Iteration(
                beta,
                left.residual,
                left.by_joint[:n],
                gains,
                share,
                guards,
                seconds=now - self.clock,
                stage="exact",
            )
        )
        self.clock = now

    def run(
        self, place: Place, most: int, progress: Progress | None = None
    ) -> tuple[Place, str, str]:
        """Iterate; the last point, a status and its message."""
        quiet = 0
        for k in range(1, most + 1):
            found, fall, length = self._step(place)
            if found is None:
                if length < max(SETTLED, 0.02 * place.system.W.shape[1]) or quiet:
                    return (
                        place,
                        "converged",
                        f"The error settled after {k - 1} steps with the exact Jacobian.",
                    )
                rough = self.unknowns.loop(place.z)
                steps = rough is not None and bool(np.any(np.asarray(rough.encoder) > 0))
                hint = (
                    " Encoder steps in the simulated loop make it rough; try without (encoder = 0)."
                    if steps
                    else ""
                )
                return (
                    place,
                    "diverged",
                    f"Step {k} with the exact Jacobian: no part of it lowers the error.{hint}",
                )
            place = found
            quiet = quiet + 1 if fall < QUIET else 0
            if length < SETTLED or quiet == 2:
                return (
                    place,
                    "converged",
                    f"The error settled after {k} steps with the exact Jacobian.",
                )
            answer = None if progress is None else progress(k / most)
            if answer is not None and not np.all(answer):
                return place, "stopped", f"Stopped on request after {k} steps."
        return (
            place,
            "stopped",
            f"The limit of {most} iterations was reached before the error settled.",
        )

    def _step(self, place: Place) -> tuple[Place | None, float, float]:
        """The next point, the relative fall of the error, and the squared length of the full step
        in standard deviations.
        """
        deviations = place.deviations
        weights = (1.0 / deviations)[place.system.joint]
        now = np.concatenate([self.model.matrix @ place.theta, place.z])
        R, rest = compressed(place.system, weights)
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
        counts = place.simulated.counts
        before = self._merit(place.theta, place.z, place.simulated, deviations, counts)
        share = 1.0
        for _ in range(HALVINGS + 1):
            trial = place.theta + share * (theta - place.theta), place.z + share * (z - place.z)
            if self._cut(*trial):  # other rows: the error that must fall is that on them
                simulated = self.closed.compared(place.simulated.motions)
                before = self._merit(place.theta, place.z, simulated, deviations, counts)
            found = self._tried(*trial, before, deviations, counts, full=share == 1.0)
            if isinstance(found, Place):
                fall = before - self._merit(*trial, found.simulated, deviations, counts)
                if fall > 0:
                    self._keep(found, share, tuple(guards))
                    return found, 2.0 * fall / place.system.y.size, length
            reason = (
                f"simulation failed ({found.rstrip('.')})"
                if isinstance(found, str)
                else "error would rise"
            )
            share /= 2
            guards.append(f"step halved: {reason}")
        self.closed.cut(place.cut)
        return None, 0.0, length

    def _tried(
        self, theta: Array, z: Array, before: float, deviations: Array, counts: Array, full: bool
    ) -> Place | str | None:
        """A full step is mostly taken, and differentiated at once; shorter ones only if the error
        falls, else None.
        """
        if not full:
            loop, late = self.unknowns.loop(z), self.unknowns.late(z) or 0.0
            found = self.closed.simulate(self.model, self.model.matrix @ theta, loop, late)
            if isinstance(found, str):
                return found
            if not self._merit(theta, z, found, deviations, counts) < before:
                return None
        return self._differentiated(theta, z)

    def _merit(
        self, theta: Array, z: Array, simulated: Simulated, deviations: Array, counts: Array
    ) -> float:
        """What a step must lower: half the squared errors in standard deviations, the barrier, and
        the pull on z.

        Errors count for as many rows, `counts` (g,), as the step starts from: which rows are at
        rest depends on the simulation.
        """
        share = simulated.errors**2 / np.maximum(simulated.counts, 1.0) / deviations**2
        pull = z / self.unknowns.spread
        return (
            0.5 * float(counts @ share)
            + BARRIER_WEIGHT * self.consistent.value(theta)
            + 0.5 * float(pull @ pull)
        )
