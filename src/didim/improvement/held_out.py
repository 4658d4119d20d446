"""The error of a structure on what its fit did not see: given records, or, one after the other,
contiguous blocks of the records that it is fitted to.

A block is predicted in its record as a whole, so that the loop has its history; only the fit misses
it. Two structures are compared on the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InfeasibleError, InputError
from didim.identification.identify import identify
from didim.identification.methods.idim import IDIM
from didim.improvement.structure import Structure
from didim.results.common_rows import predictable_samples
from didim.results.estimate import Estimate
from didim.results.prediction import recorded_output
from didim.signals.experiment import Experiment
from didim.signals.resample import regular
from didim.signals.rows import RowSelection
from didim.signals.states import measured_states, reference_states

Array = NDArray[np.float64]

BLOCKS = 3
"""Contiguous blocks of each record; each is left out of one fit."""

MIN_ROWS = 10
"""Of a block."""

NOTICEABLE = 0.005
"""Relative fall of the error of some joint that counts."""

ROUNDING = 1e-3
"""Relative rise of the error of all joints together that does not count."""


@dataclass(frozen=True, eq=False)
class Target:
    """Samples of a record that are predicted."""

    record: Experiment
    """On a regular clock."""
    samples: tuple[int, int]
    """First and one past the last."""


@dataclass(frozen=True, eq=False)
class Fold:
    """What a fit sees, and what it has to predict."""

    fitted: tuple[Experiment, ...]
    """Empty: the estimate of all records predicts."""
    targets: tuple[Target, ...]


@dataclass(frozen=True, eq=False)
class Predicted:
    """The torque of a record as a structure predicts it; positions where none was recorded."""

    output: Array
    """(N, n)."""
    samples: tuple[int, int]
    """Those that it can predict."""


Predictions = tuple[Predicted | None, ...]
"""Of all targets; None where one cannot be predicted."""


@dataclass(frozen=True)
class Errors:
    """Two structures on the same rows."""

    before: float
    """||Y - Y_e|| / ||Y||."""
    after: float
    ratio: float
    """After over before, the geometric mean over the joints."""
    best_joint: float
    """After over before of the joint that gains most."""

    @property
    def is_better(self) -> bool:
        """Whether the second one predicts better: on average over the joints, noticeably at some
        joint, and not worse in all.
        """
        if not np.isfinite(self.before):
            return bool(np.isfinite(self.after))
        rises = self.after > (1.0 + ROUNDING) * self.before
        return not rises and self.ratio < 1.0 and self.best_joint < 1.0 - NOTICEABLE


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What fits do not see."""

    folds: tuple[Fold, ...]
    selection: RowSelection
    about: str
    """In words."""

    def predictions(
        self, structure: Structure, estimate: Estimate, tell: Callable[[], Any] = lambda: None
    ) -> Predictions:
        """What a structure predicts, fitted in each fold from its estimate of all records."""
        found: list[Predicted | None] = []
        for fold in self.folds:
            tell()
            fitted = estimate if not fold.fitted else _refitted(structure, estimate, fold)
            found += [_predicted(fitted, each) for each in fold.targets]
        return tuple(found)

    def compared(self, before: Predictions, after: Predictions) -> Errors:
        """The errors of two structures on the rows that both can predict."""
        n = self.folds[0].targets[0].record.n
        size, squares = np.zeros(n), np.zeros((2, n))
        targets = [each for fold in self.folds for each in fold.targets]
        for target, *both in zip(targets, before, after, strict=True):
            known = [each for each in both if each is not None]
            start = max([target.samples[0], *(each.samples[0] for each in known)])
            stop = min([target.samples[1], *(each.samples[1] for each in known)])
            recorded = recorded_output(target.record)
            counted = self.selection.moves(_velocity(target.record), (start, stop))
            y = np.where(counted, self.selection.columns((start, stop), recorded), 0.0)
            size += np.sum(y**2, axis=0)
            for k, each in enumerate(both):
                if each is None:
                    squares[k] = np.inf
                    continue
                rho = self.selection.columns((start, stop), recorded - each.output)
                squares[k] += np.sum(np.where(counted, rho, 0.0) ** 2, axis=0)
        return _errors(size, squares)


def _errors(size: Array, squares: Array) -> Errors:
    """From the sums of squares (n,) of the output, and (2, n) of what is left of it."""
    totals = np.sqrt(squares.sum(axis=1) / max(float(size.sum()), 1e-300))
    if not np.all(np.isfinite(totals)):
        return Errors(float(totals[0]), float(totals[1]), np.nan, np.nan)
    least = 1e-12 * size + 1e-300
    ratios = np.sqrt((squares[1] + least) / (squares[0] + least))
    mean = float(np.exp(np.mean(np.log(ratios))))
    return Errors(float(totals[0]), float(totals[1]), mean, float(ratios.min()))


def held_out(
    structure: Structure, experiments: Sequence[Experiment], validation: Sequence[Experiment]
) -> HeldOut:
    """The records of `validation`, or blocks of the experiments where there are none."""
    given = structure.method.selection
    selection = RowSelection(given.decimation, given.decimate, ends=False)
    if validation:
        targets = tuple(_whole(each) for each in validation)
        names = ", ".join(repr(each.name) for each in validation)
        return HeldOut((Fold((), targets),), selection, f"of the held-out records, {names}")
    folds = []
    for k in range(BLOCKS):
        fitted: list[Experiment] = []
        targets_of_fold = []
        for record in experiments:
            target, rest = _without_block(regular(record), k)
            least = max(selection.decimator.shortest, MIN_ROWS * given.decimation)
            if target.samples[1] - target.samples[0] < least:
                raise InputError(
                    f"Experiment {record.name!r} is too short to leave a third of it out: give "
                    "validation records, or decimate less."
                )
            targets_of_fold.append(target)
            fitted += rest
        folds.append(Fold(tuple(fitted), tuple(targets_of_fold)))
    about = f"of each of {BLOCKS} blocks of the records, fitted to the others"
    return HeldOut(tuple(folds), selection, about)


def _whole(record: Experiment) -> Target:
    even = regular(record)
    return Target(even, (0, even.t.size))


def _without_block(record: Experiment, k: int) -> tuple[Target, list[Experiment]]:
    """Block k of a record, and what is before and after it."""
    ends = np.linspace(0, record.t.size, BLOCKS + 1).round().astype(int)
    start, stop = int(ends[k]), int(ends[k + 1])
    t, parts = record.t, []
    if start > 1:
        parts.append(record.between(float(t[0]), float(t[start - 1])))
    if stop < t.size - 1:
        parts.append(record.between(float(t[stop]), float(t[-1])))
    named = [replace(each, name=f"{record.name} part {i + 1}") for i, each in enumerate(parts)]
    return Target(record, (start, stop)), named


def _refitted(structure: Structure, estimate: Estimate, fold: Fold) -> Estimate | None:
    """The structure fitted to what the fold shows, from the estimate of all."""
    changed: dict[str, Any] = {"lack_of_fit": False}
    if not isinstance(structure.method, IDIM):
        changed |= {"initial": estimate.parameters, "scan": False}
        if structure.method.estimate_gains:
            changed["controller"] = estimate.controller
    method = structure.with_method(**changed).method
    model = structure.model.with_shapes(
        {name: value for name, (value, _) in estimate.shapes.items()}
    )
    try:
        return identify(model, fold.fitted, method)
    except (InputError, InfeasibleError):  # too short, or nothing that can be simulated
        return None


def _predicted(estimate: Estimate | None, target: Target) -> Predicted | None:
    if estimate is None:
        return None
    try:
        samples = predictable_samples(estimate, np.asarray(target.record.t))
        return Predicted(estimate.predictor.output(target.record), samples)
    except (InputError, InfeasibleError):
        return None


def _velocity(record: Experiment) -> Array:
    """(N, n) measured where positions are, else of the reference."""
    return (reference_states(record) if record.q is None else measured_states(record, None)).dq
