"""How well a model predicts a record: rows that are compared, the error that is left, and whether
the fit knew the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.results.load_seen import LoadSeen
from didim.results.provenance import data_hash
from didim.signals.experiment import Experiment
from didim.signals.resample import period_of
from didim.signals.rows import RowSelection
from didim.signals.states import States

Array = NDArray[np.float64]

SAME = 1e-3
"""Difference over size, rms, below which two torques are the same recording. Repeated runs of one
motion differ by their noise, which is larger.
"""

ENOUGH = 10
"""Samples that two recordings must share before they count as the same."""


@dataclass(frozen=True, eq=False)
class AlongMotion:
    """What inverse dynamics along the measured motion leaves of a record's torque: no simulated
    loop can hide an error there.
    """

    experiment: str
    residual: float
    """||Y - Y_e|| / ||Y|| over the rows of joints that move."""
    residual_by_joint: Array
    """(n,)."""


@dataclass(frozen=True, eq=False)
class Validation:
    """How well an estimate predicts a record."""

    experiment: str
    residual: float
    """||Y - Y_e|| / ||Y|| over the rows that the fit would use and all others in which a joint
    moves.
    """
    residual_by_joint: Array
    """(n,)."""
    rows: int
    message: str = ""
    """Why it could not be predicted; empty where it could."""
    record: str = ""
    """Hash of the record, to see whether the fit knew it; empty: not known."""
    left_out: float = 0.0
    """Fraction of these rows that `rest_velocity` leaves out of a fit."""
    selected: float = np.inf
    """The residual without them; infinite where none remain."""
    along_motion: AlongMotion | None = None
    """The same record by inverse dynamics; None where the prediction is that already, or the
    positions do not allow it.
    """
    seen: float = 0.0
    """Fraction of the record that the fit knew."""
    load: LoadSeen | None = None
    """A load that explains most of the error; None: none does."""

    @property
    def worst(self) -> float:
        """The larger residual: of the simulated loop, or along the measured motion."""
        along = self.along_motion
        return self.residual if along is None else max(self.residual, along.residual)

    @property
    def worst_by_joint(self) -> Array:
        """(n,) the same for each joint."""
        along = self.along_motion
        if along is None:
            return self.residual_by_joint
        return np.maximum(self.residual_by_joint, along.residual_by_joint)

    def __str__(self) -> str:
        name = self.experiment or "experiment"
        if self.message:
            return f"{name}: not predicted. {self.message}"
        joints = ", ".join(f"{100 * each:.3g}" for each in self.residual_by_joint)
        text = f"{name}: residual {100 * self.residual:.3g} % (by joint {joints} %), "
        text += f"{self.rows} rows{self.rows_left_out}"
        if self.along_motion is not None:
            text += f"; {100 * self.along_motion.residual:.3g} % along the measured motion"
        return f"{text}; {100 * self.seen:.3g} % of it was fitted to" if self.seen else text

    @property
    def rows_left_out(self) -> str:
        """What `rest_velocity` would leave out, as a remark; empty where nothing."""
        if not self.left_out:
            return ""
        rest = f"; {100 * self.left_out:.3g} % of the rows are below rest_velocity"
        if not np.isfinite(self.selected):
            return rest
        return f"{rest}, without them {100 * self.selected:.3g} %"


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Measured and predicted torque of a record, filtered and decimated as equations are."""

    step: float
    """s between rows."""
    y: Array
    """(K, n) measured."""
    found: Array
    """(K, n) predicted."""
    used: NDArray[np.bool_]
    """(K, n) whether a fit uses a row."""
    moves: NDArray[np.bool_]
    """(K, n) whether the joint moves there."""
    torque: Array
    """(N, n) predicted, before filtering, on the times of the record."""
    motion: States
    """At the samples that the rows stand for: measured, of the reference, or simulated."""

    @property
    def counted(self) -> NDArray[np.bool_]:
        """(K, n) whether a row counts in the error of a record."""
        return self.used | self.moves


def compared_rows(
    selection: RowSelection,
    window: tuple[int, int],
    t: Array,
    tau: Array,
    found: Array,
    motion: States,
    torque: Array,
) -> ComparedRows:
    """Recorded and predicted torques (N, n) and the motion on a regular clock t, as rows; `torque`
    is the prediction on the times of the record.
    """
    n, step = tau.shape[1], selection.decimation * period_of(t)
    reduced = selection.columns(window, np.hstack([tau, found]))
    used, moves = selection.used(motion.dq, window), selection.moves(motion.dq, window)
    at_rows = motion.at(selection.samples(window))
    return ComparedRows(step, reduced[:, :n], reduced[:, n:], used, moves, torque, at_rows)


def validation_of(
    experiment: Experiment,
    rows: ComparedRows,
    along: AlongMotion | None = None,
    fitted: Sequence[Experiment] = (),
) -> Validation:
    """The residual of predicted rows."""
    name, record, counted = experiment.name, data_hash(experiment), rows.counted
    count, seen = int(counted.sum()), seen_fraction(experiment, fitted)
    if not count:
        nothing, why = np.full(rows.y.shape[1], np.inf), "No row remains: no joint moves."
        return Validation(name, np.inf, nothing, 0, why, record)
    error = rows.y - rows.found
    total, by_joint = relative_norms(error, rows.y, counted)
    selected = relative_norms(error, rows.y, rows.used)[0] if rows.used.any() else np.inf
    left_out = 1.0 - float(rows.used.sum()) / count
    return Validation(
        name, total, by_joint, count, "", record, left_out, selected, along, round(seen, 3)
    )


def unpredicted(experiment: Experiment, why: str) -> Validation:
    """That a record cannot be predicted is a result too."""
    nothing = np.full(experiment.n, np.inf)
    return Validation(experiment.name, np.inf, nothing, 0, why, data_hash(experiment))


def seen_fraction(experiment: Experiment, fitted: Sequence[Experiment]) -> float:
    """Fraction of a record's samples that were fitted to: its torque is compared with that of each
    fitted record where their times overlap, and where one is shifted against the other.
    """
    return max((_shared(experiment, each) for each in fitted), default=0.0)


def _shared(experiment: Experiment, other: Experiment) -> float:
    """Fraction of the samples of one recording that another holds too."""
    t, known = np.asarray(experiment.t), np.asarray(other.t)
    signals = next(
        (pair for pair in ((experiment.tau, other.tau), (experiment.q, other.q))
         if pair[0] is not None and pair[1] is not None),
        None,
    )  # fmt: skip
    if signals is None or experiment.n != other.n:
        return 0.0
    tau, reference = (np.asarray(each) for each in signals)
    shifts = [0.0, _shift(t, tau, known, reference)]
    return max(_same_samples(t - shift, tau, known, reference) for shift in shifts) / t.size


def _same_samples(t: Array, tau: Array, known: Array, reference: Array) -> int:
    """Samples within the times of another recording, if the torques are the same there."""
    inside = (t >= known[0]) & (t <= known[-1])
    count = int(inside.sum())
    if count < ENOUGH:
        return 0
    again = np.column_stack([np.interp(t[inside], known, each) for each in reference.T])
    size = np.linalg.norm(tau[inside] - tau[inside].mean(axis=0))
    return count if np.linalg.norm(again - tau[inside]) <= SAME * size else 0


def _shift(t: Array, tau: Array, known: Array, reference: Array) -> float:
    """s by which one recording lies after another, by the largest correlation of their torques on
    the clock of the finer one.
    """
    step = min(period_of(t), period_of(known))
    one, two = (
        np.interp(np.arange(each[0], each[-1], step), each, x[:, 0])
        for each, x in ((t, tau), (known, reference))
    )
    size = one.size + two.size - 1
    spectra = (np.fft.rfft(each - each.mean(), size) for each in (one, two[::-1]))
    product = np.fft.irfft(np.prod([*spectra], axis=0), size)
    lag = int(np.argmax(product)) - (two.size - 1)
    return float(t[0] - known[0] + lag * step)


def residual_of(records: Sequence[ComparedRows]) -> tuple[float, Array]:
    """||Y - Y_e|| / ||Y|| over the rows that a fit uses, of all records and by joint (n,)."""
    used, y, found = (
        np.concatenate([getattr(each, name) for each in records]) for name in ("used", "y", "found")
    )
    return relative_norms(y - found, y, used)


def relative_norms(
    error: Array, y: Array, counted: NDArray[np.bool_] | None = None
) -> tuple[float, Array]:
    """||error|| / ||y|| over all and by column, for (K, n) arrays, on the rows that count; 0 where
    y is zero.
    """
    if counted is not None:
        error, y = np.where(counted, error, 0.0), np.where(counted, y, 0.0)
    size, left = np.linalg.norm(y, axis=0), np.linalg.norm(error, axis=0)
    total = float(np.linalg.norm(size))
    by_column = left / np.where(size > 0, size, 1.0)
    return float(np.linalg.norm(left) / total) if total > 0 else 0.0, by_column
