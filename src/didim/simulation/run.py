"""Running the compiled loop chunk by chunk, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.torque import TorqueModel
from didim.jit.struct_pointers import StructMemory
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory
from didim.simulation.disturbances import NO_DISTURBANCES
from didim.simulation.kernels.fixed import Output, run_fixed, run_sensitive
from didim.simulation.kernels.plant import DIVERGED, INFEASIBLE, Plant, plant_type
from didim.simulation.kernels.tangent import Tangent, tangent_type
from didim.simulation.motion import Motion

Array = NDArray[np.float64]
Progress = Callable[[float], Any]
Take = Callable[[int, Array, Array], None]
"""Takes a block of sensitivities: its first output row, those of the torque (rows, n, m) and of the
position (rows, n, m); m is 0 for an output that nobody asked for. The next block has the same
memory: what is kept must be copied.
"""

BLOCK_NUMBERS = 1 << 19
"""Numbers in one block of sensitivities; half and twice as many were slower."""

SPARE_ROWS = 2
"""Of a block: the next ones may have a few rows more."""

SHORTEST_BLOCK = 0.02
"""s."""

CHUNK_SECONDS = 4.0
"""Simulated time per call of the compiled loop: memory for the reference stays small, and progress
is reported between two calls.
"""


class Run:
    """Calls the compiled loop chunk by chunk; its time counts from the first output time, so
    that Unix times lose no digits.

    A run can be made once: its memory is then that of the end. It may be made in parts, which give
    the same numbers. `memory` is what the plant's addresses point to, machine code and terms, and
    lives as long as the run.
    """

    def __init__(
        self,
        model: TorqueModel,
        plant: Plant,
        memory: object,
        trajectory: Trajectory,
        channels: Reference | None,
        t: Array,
        out: Output,
        y: Array,
        period: float,
        substeps: int,
        size: int,
    ) -> None:
        self.model, self.plant, self.memory, self.trajectory = model, plant, memory, trajectory
        self.channels, self.t, self.out, self.y = channels, t, out, y
        self.period, self.substeps, self.size = period, substeps, size
        self.trouble, self.when = np.zeros(3, dtype=np.int64), np.zeros(1)
        self.end = float(out.t[-1])
        self.disturbances = NO_DISTURBANCES
        self.row, self.sample, self.total = 0, 0, int(self.end / self.period) + 2

    def fixed(self, progress: Progress | None, until: int | None = None) -> Motion:
        """Run with a fixed step, up to the sample `until` of the clock; None: to the end."""
        return self._chunks(None, None, CHUNK_SECONDS, progress, until)

    def sensitive(
        self,
        tangent: Tangent,
        take: Take | None,
        progress: Progress | None = None,
        until: int | None = None,
    ) -> Motion:
        """The same with the sensitivities carried along; they are handed out block by block."""
        numbers = sum(each.shape[1] * each.shape[2] for each in (tangent.out_tau, tangent.out_q))
        length = max(BLOCK_NUMBERS / numbers * self.period, SHORTEST_BLOCK)
        return self._chunks(tangent, take, min(CHUNK_SECONDS, length), progress, until)

    def _chunks(
        self,
        tangent: Tangent | None,
        take: Take | None,
        length: float,
        progress: Progress | None,
        until: int | None,
    ) -> Motion:
        row, sample, ready = self.row, self.sample, False
        stop = self.total if until is None else min(until, self.total)
        chunk, block = (max(1, int(each / self.period)) for each in (CHUNK_SECONDS, length))
        plant = StructMemory(plant_type, self.plant)
        carried = None if tangent is None else StructMemory(tangent_type, tangent)
        while row < self.out.t.size and sample < stop:
            begin = sample - sample % chunk
            chunk_end = min(begin + chunk, self.total)
            if sample == begin or not ready:
                plant.replace(**self._signals(begin * self.period, chunk_end * self.period))
                if carried is not None and self.disturbances.count:
                    during = sample * self.period, chunk_end * self.period
                    carried.replace(**self.disturbances.during(self.t - self.t[0], *during))
                ready = True
            last, first = min(sample + block, chunk_end, stop), row
            clock = (
                self.period,
                sample,
                last,
                self.substeps,
                self.size,
                self.y,
                row,
                self.out,
                self.trouble,
                self.when,
            )
            if carried is None:
                row = run_fixed(plant.address, None, *clock)
            else:
                carried.replace(**self._block(carried.record, row, last))
                row = run_sensitive(plant.address, carried.address, *clock)
                filled = carried.record
                if take is not None:
                    take(first, filled.out_tau[: row - first], filled.out_q[: row - first])
            self.row, self.sample = row, (sample := last)
            if (ended := self._stopped(row, sample * self.period, progress)) is not None:
                return ended
        return self._motion(row, "completed", "")

    def adaptive(self, tolerance: float, progress: Progress | None) -> Motion:
        """Run with error control."""
        from didim.simulation.kernels.adaptive import run_adaptive  # which needs scipy.integrate

        row, time, step = 0, 0.0, np.array([1e-4])
        plant = StructMemory(plant_type, self.plant)
        while row < self.out.t.size and time < self.end:
            end = min(time + CHUNK_SECONDS, self.end)
            plant.replace(**self._signals(time, end))
            row = run_adaptive(
                plant.address,
                time,
                end,
                self.size,
                self.y,
                tolerance,
                tolerance,
                row,
                self.out,
                step,
                self.trouble,
                self.when,
            )
            time = end
            if (stop := self._stopped(row, time, progress)) is not None:
                return stop
        return self._motion(row, "completed", "")

    def _block(self, tangent: Tangent, row: int, last: int) -> dict[str, Any]:
        """Memory for the sensitivities from output `row` to sample `last` of the clock: that of the
        block before, where it is large enough.
        """
        rows = int(np.searchsorted(self.out.t, last * self.period + TIME_TOLERANCE)) - row + 1
        tau, q = (
            each if len(each) >= rows else np.empty((rows + SPARE_ROWS, *each.shape[1:]))
            for each in (tangent.out_tau, tangent.out_q)
        )
        return {"first": np.array([row]), "out_tau": tau, "out_q": q}

    def _signals(self, start: float, end: float) -> dict[str, Any]:
        """Reference and channels of the plant from start to end."""
        part = (start, end + self.period, self.period)
        reference = self.trajectory.piecewise_cubic(*part)
        channels = reference if self.channels is None else self.channels.piecewise_cubic(*part)
        return {"reference": reference, "channels": channels}

    def _stopped(self, row: int, time: float, progress: Progress | None) -> Motion | None:
        """The motion so far if the run ends here; None: it goes on."""
        at, j = f"t = {self.t[0] + self.when[0]:.6g} s", int(self.trouble[1])
        joint = f"joint {j + 1} ({self.model.robot.joint_names[j]})"
        if self.trouble[0] == INFEASIBLE:
            return self._motion(
                row, "infeasible", f"The inertia matrix is not positive definite at {at}, {joint}."
            )
        if self.trouble[0] == DIVERGED:
            return self._motion(
                row, "diverged", f"The motion diverges at {at}, {joint}; is the loop stable?"
            )
        fraction = min(1.0, time / self.end) if self.end > 0 and row < self.out.t.size else 1.0
        answer = None if progress is None else progress(float(fraction))
        if answer is not None and not answer:
            return self._motion(row, "cancelled", f"Stopped on request at {at}.")
        return None

    def _motion(self, rows: int, status: str, message: str) -> Motion:
        """The outputs that were reached."""
        kept, out = slice(0, rows), self.out
        signals = (out.q[kept], out.dq[kept], out.ddq[kept], out.tau[kept], out.slip[kept])
        return Motion(self.t[kept], *signals, out.stuck[kept].astype(bool), status, message)


def new_output(t: Array, n: int, c: int) -> Output:
    """Arrays for the outputs at the times t."""
    N = t.size
    q, dq, ddq, tau = np.zeros((4, N, n))
    return Output(t, q, dq, ddq, tau, np.zeros((N, c)), np.zeros((N, c), dtype=np.uint8))
