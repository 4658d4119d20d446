"""Running the compiled loop chunk by chunk, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.signals.reference import Course
from didim.simulation.kernels.adaptive import run_adaptive
from didim.simulation.kernels.fixed import Output, run_fixed
from didim.simulation.kernels.plant import DIVERGED, INFEASIBLE, Plant
from didim.simulation.motion import Motion

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

CHUNK = 4.0
"""Seconds per call of the compiled loop: memory for the reference stays small, and progress can be told between two calls."""


class Run:
    """Calls the compiled loop chunk by chunk; its time counts from the origin, so that Unix times lose no digits."""

    def __init__(
        self, plant: Plant, course: Course, origin: float, out: Output, y: Array, period: float, substeps: int, size: int
    ) -> None:
        self.plant, self.course, self.out, self.y = plant, course, out, y
        self.period, self.substeps, self.size = period, substeps, size
        self.trouble, self.when = np.zeros(2, dtype=np.int64), np.zeros(1)
        self.origin, self.end = origin, float(out.t[-1])

    @property
    def joint(self) -> int:
        """The joint at which the run failed, -1 if none."""
        return int(self.trouble[1])

    def fixed(self, progress: Progress | None) -> tuple[int, str, str]:
        """Run with a fixed step; how many outputs were written, the status and its message."""
        row, sample, total = 0, 0, int(self.end / self.period) + 2
        chunk = max(1, int(CHUNK / self.period))
        while row < self.out.t.size and sample < total:
            last = min(sample + chunk, total)
            plant = self._plant(sample * self.period, last * self.period)
            row = run_fixed(
                plant, 0.0, self.period, sample, last, self.substeps, self.size, self.y, row, self.out, self.trouble, self.when
            )
            sample = last
            if (stop := self._told(row, sample * self.period, progress)) is not None:
                return stop
        return row, "completed", ""

    def adaptive(self, tolerance: float, progress: Progress | None) -> tuple[int, str, str]:
        """Run with error control; returns as `fixed`."""
        row, now, step = 0, 0.0, np.array([1e-4])
        while row < self.out.t.size and now < self.end:
            end = min(now + CHUNK, self.end)
            plant = self._plant(now, end)
            row = run_adaptive(
                plant, now, end, self.size, self.y, tolerance, tolerance, row, self.out, step, self.trouble, self.when
            )
            now = end
            if (stop := self._told(row, now, progress)) is not None:
                return stop
        return row, "completed", ""

    def _plant(self, start: float, end: float) -> Plant:
        return self.plant._replace(asked=self.course.pieces(start, end + self.period, self.period))

    def _told(self, row: int, now: float, progress: Progress | None) -> tuple[int, str, str] | None:
        """The end of the run, if it has come."""
        at = f"t = {self.origin + self.when[0]:.6g} s"
        if self.trouble[0] == INFEASIBLE:
            return row, "infeasible", f"The inertia matrix is not positive definite at {at}, {{joint}}."
        if self.trouble[0] == DIVERGED:
            return row, "diverged", f"The motion runs away at {at}, {{joint}}; is the loop stable?"
        share = min(1.0, now / self.end) if self.end > 0 and row < self.out.t.size else 1.0
        answer = None if progress is None else progress(float(share))
        if answer is not None and not answer:
            return row, "cancelled", f"Stopped on request at {at}."
        return None


def new_output(t: Array, n: int, c: int) -> Output:
    """Room for the outputs at the times t."""
    N = t.size
    q, dq, ddq, tau = np.zeros((4, N, n))
    return Output(t, q, dq, ddq, tau, np.zeros((N, c)), np.zeros((N, c), dtype=np.uint8))


def motion_of(t: Array, out: Output, rows: int, status: str, message: str) -> Motion:
    """The outputs that were reached, as a motion at the times t asked for."""
    kept = slice(0, rows)
    return Motion(
        t[kept],
        out.q[kept],
        out.dq[kept],
        out.ddq[kept],
        out.tau[kept],
        out.slip[kept],
        out.stuck[kept].astype(bool),
        status,
        message,
    )
