"""Simulated records beside the recorded ones: their errors on the rows of a window, (28), (35)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.signals.experiment import measured_torque
from didim.signals.noise import decimated_noise, is_undersampled
from didim.simulation.motion import Motion
from didim.simulation.record_set import RecordSet, Window

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All records simulated with the same x, and their errors on the rows of a window."""

    motions: tuple[Motion, ...]
    errors: Array
    """(g,) ||Y^j - Y_s^j|| over the rows of each joint, output after output."""
    sizes: Array
    """(g,) ||Y^j||."""
    counts: Array
    """(g,) rows."""

    @property
    def residual(self) -> float:
        """||Y - Y_s|| / ||Y||, of the first output where there are two."""
        n = self.motions[0].q.shape[1]
        size = float(np.linalg.norm(self.sizes[:n]))
        return float(np.linalg.norm(self.errors[:n])) / size if size > 0 else np.inf

    @property
    def by_joint(self) -> Array:
        """(g,) ||Y^j - Y_s^j|| / ||Y^j||."""
        return self.errors / np.where(self.sizes > 0, self.sizes, 1.0)

    @property
    def rms(self) -> float:
        """The relative errors, rms over the joints."""
        return float(np.sqrt(np.mean(self.by_joint**2)))

    @property
    def deviations(self) -> Array:
        """(g,) rms error of each joint and output, floored far below the output itself."""
        rows = np.sqrt(np.maximum(self.counts, 1.0))
        rms, size = (x / rows for x in (self.errors, self.sizes))
        return np.maximum(rms, np.maximum(1e-9 * size, 1e-150))


def compare(
    records: RecordSet,
    motions: tuple[Motion, ...],
    window: Window,
    shift: Array | float = 0.0,
) -> Evaluation:
    """The errors of simulated outputs on the rows of a window; logged positions are simulated ones
    plus `shift` (n,).

    Implements (28), (35).
    """
    groups = len(records.outputs) * records.n
    errors, sizes, counts = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    for k, motion in enumerate(motions):
        rho, y = output_error(records, k, motion, window, shift)
        used = used_rows(records, motion, window.samples[k])
        errors += np.sum(np.where(used, rho, 0.0) ** 2, axis=0)
        sizes += np.sum(np.where(used, y, 0.0) ** 2, axis=0)
        counts += used.sum(axis=0)
    return Evaluation(motions, np.sqrt(errors), np.sqrt(sizes), counts)


def output_error(
    records: RecordSet, k: int, motion: Motion, window: Window, shift: Array | float = 0.0
) -> tuple[Array, Array]:
    """Y - Y_s and Y of record k, decimated: (K, groups)."""
    outputs, record = records.outputs, records.records[k]
    simulated = {"tau": motion.tau, "q": motion.q + shift if np.any(shift) else motion.q}
    signals = [np.asarray(getattr(record, name)) for name in outputs]
    signals += [simulated[name] for name in outputs]

    def columns(start: int, stop: int) -> Array:
        return np.hstack([each[start:stop] for each in signals])

    reduced = records.selection.reduce(window.samples[k], columns)
    y, y_s = np.hsplit(reduced, 2)
    return y - y_s, y


def used_rows(records: RecordSet, motion: Motion, samples: tuple[int, int]) -> NDArray[np.bool_]:
    """(K, groups) which rows count."""
    rows = {"tau": records.torque_selection, "q": records.selection}
    return np.hstack([rows[name].used(motion.dq, samples) for name in records.outputs])


def noise_fraction(records: RecordSet, evaluation: Evaluation, window: Window) -> Array:
    """(n,) fraction of each joint's decimated torque that white noise would be, by second
    differences of the raw torque; 0 where too few samples in a period leave it unknown.
    """
    decimator = records.selection.decimator
    torques, used = [measured_torque(each) for each in records.records], window.samples
    segments = [(tau, slice(*each)) for tau, each in zip(torques, used, strict=True)]
    unknown = [
        is_undersampled(tau[each], motion.tau[each], motion.dq[each])
        for (tau, each), motion in zip(segments, evaluation.motions, strict=True)
    ]
    kept = sum(decimator.kept(stop - start).size for start, stop in used)
    rms = evaluation.sizes[: records.n] / np.sqrt(max(kept, 1))
    noise = decimated_noise(segments, decimator.noise_gain) / np.where(rms > 0, rms, 1.0)
    return np.where(np.any(unknown, axis=0), 0.0, noise)
