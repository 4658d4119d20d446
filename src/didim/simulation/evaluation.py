"""Simulated records beside the recorded ones: their errors on the rows of a window, (28), (35)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.regression.huber import huber_factors, huber_loss, robust_deviation
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
    rows: tuple[Array, ...] = ()
    """(rows,) errors of each group, where robust weights need them; empty: squares are enough."""

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

    @cached_property
    def deviations(self) -> Array:
        """(g,) error of each joint and output, floored far below the output itself: rms, or by
        medians where weights are robust.
        """
        rows = np.sqrt(np.maximum(self.counts, 1.0))
        rms, size = (x / rows for x in (self.errors, self.sizes))
        if self.rows:
            rms = np.array([robust_deviation(each) for each in self.rows])
        return np.maximum(rms, np.maximum(1e-9 * size, 1e-150))

    def robust_factors(self, rho: Array, group: NDArray[np.int64]) -> Array | None:
        """(r,) Huber's factors on the weights of errors (r,) of some groups; None: squares."""
        return huber_factors(rho / self.deviations[group]) if self.rows else None

    def loss(self, of: Evaluation) -> float:
        """Half the squared errors of another evaluation, or Huber's function of them, in the
        standard deviations of this one.

        They count for as many rows as this one has: which rows are at rest depends on the
        simulation.
        """
        if self.rows:
            pairs = zip(of.rows, self.deviations, strict=True)
            mean = np.array([huber_loss(rho / s) for rho, s in pairs])
        else:
            mean = 0.5 * of.errors**2 / np.maximum(of.counts, 1.0) / self.deviations**2
        return float(self.counts @ mean)


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
    rows: list[list[Array]] = [[] for _ in range(groups)]
    for k, motion in enumerate(motions):
        rho, y = output_error(records, k, motion, window, shift)
        used = used_rows(records, motion, window.samples[k])
        errors += np.sum(np.where(used, rho, 0.0) ** 2, axis=0)
        sizes += np.sum(np.where(used, y, 0.0) ** 2, axis=0)
        counts += used.sum(axis=0)
        for j in range(groups) if records.robust else ():
            rows[j].append(rho[used[:, j], j])
    kept = tuple(map(np.concatenate, rows)) if records.robust else ()
    return Evaluation(motions, np.sqrt(errors), np.sqrt(sizes), counts, kept)


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
