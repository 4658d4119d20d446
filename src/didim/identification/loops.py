"""The records of a method that simulates, in the loop that the robot was in: clocks checked,
references interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InputError, shortened
from didim.identification.closed_loop import ClosedLoop
from didim.identification.record import prepared
from didim.signals.experiment import Experiment
from didim.signals.reference import Reference, Trajectory
from didim.signals.resample import period_of
from didim.signals.rows import RowSelection
from didim.validation import per_joint

MOST_STEPS = 5e6
"""Samples of the control loop in one record, beyond which something is wrong with its clock."""

Start = tuple[ArrayLike, ArrayLike] | str | None


class Loops:
    """Makes closed loops of the same records, each with a cut at the start of its own."""

    def __init__(
        self,
        model: BaseModel,
        experiments: Sequence[Experiment],
        controller: Controller | None,
        selection: RowSelection,
        transient: float | None,
        start: Start,
        outputs: tuple[str, ...] = ("tau",),
        estimate_gains: bool = False,
        estimate_delay: bool | None = False,
    ) -> None:
        held = any(
            isinstance(each.q_ref, Reference) and each.q_ref.interpolation == "held"
            for each in experiments
        )
        shifts = self.shifts = _shifts(controller, estimate_gains, estimate_delay, held)
        self.interpolation = (
            "cubic" if shifts or controller is None else _interpolation(controller, experiments)
        )
        self.records = prepared(model, experiments, self.interpolation)
        self.selection, self.transient, self.start, self.outputs = (
            selection,
            transient,
            start,
            outputs,
        )
        self.driven = controller is not None
        if isinstance(start, tuple):
            for name, value in zip(("q", "dq"), start, strict=True):
                per_joint(value, f"start, {name},", model.robot.n)
        self.notes: list[str] = []
        if controller is None:
            return
        _refuse_endless(controller, self.records)
        arrays = [
            each
            for each in experiments
            if each.q_ref is not None and not isinstance(each.q_ref, Trajectory)
        ]
        if arrays and controller.rate is not None and self.interpolation != "held" and not shifts:
            self.notes.append(
                f"The clock of the log does not meet that of the loop ({controller.rate:g} Hz): "
                "the reference was "
                "interpolated by cubics. Give a didim.Reference to choose otherwise."
            )

    def refuse_unusable(self) -> None:
        """Refuse records without a reference to follow, or too short for what is cut and
        decimated.
        """
        for record in self.records:
            if self.driven:
                record.reference()
            self.selection.window(np.asarray(record.t), self.transient or 0.0)

    def fresh(self) -> ClosedLoop:
        """A closed loop that has cut nothing yet."""
        transient = self.transient if self.driven else (self.transient or 0.0)
        closed = ClosedLoop(
            self.records,
            self.selection,
            transient,
            self.start,
            self.interpolation,
            self.outputs,
            self.driven,
        )
        closed.notes += self.notes
        return closed


def _shifts(
    controller: Controller | None, estimate_gains: bool, estimate_delay: bool | None, held: bool
) -> bool:
    """Whether a delay of the reference is estimated: as asked, by default with the gains of a
    sampled law.
    """
    if estimate_delay and held:
        raise InputError(
            "estimate_delay needs a reference that can be shifted by less than a sample; give it "
            "as an array, or as a "
            'didim.Reference with interpolation="linear" or "cubic" instead of "held".'
        )
    sampled = controller is not None and controller.rate is not None
    return (estimate_gains and sampled and not held) if estimate_delay is None else estimate_delay


def check_start(start: Start, where: str) -> Start:
    """An initial state of the simulations: None, "tracking" or (q, dq)."""
    if start is None or (isinstance(start, str) and start == "tracking"):
        return start
    try:
        q, dq = (np.atleast_1d(np.asarray(each, dtype=float)) for each in start)
    except (TypeError, ValueError):
        raise InputError(
            f'{where}: start must be None, "tracking" or a pair (q, dq) at the first sample, '
            f"found {shortened(start)}."
        ) from None
    return q, dq


def _refuse_endless(controller: Controller, records: Sequence[Experiment]) -> None:
    """A log in milliseconds would be simulated for a thousand times as long."""
    for record in records:
        t = np.asarray(record.t)
        steps = (t[-1] - t[0]) * (controller.rate or 1.0 / max(period_of(t), 1e-3))
        if steps > MOST_STEPS:
            raise InputError(
                f"Experiment {record.name!r} lasts {t[-1] - t[0]:.4g} s, {steps:.2g} samples of "
                "the control loop. "
                "Is t in seconds? If it is, split the record."
            )


def _interpolation(controller: Controller, experiments: Sequence[Experiment]) -> str:
    """Of references on t: held where each sample of the law meets a sample of the log, else
    cubic.
    """
    if controller.rate is None:
        return "cubic"
    ratios = [1.0 / (period_of(np.asarray(each.t)) * controller.rate) for each in experiments]
    return (
        "held"
        if all(ratio > 0.9 and abs(ratio - round(ratio)) < 0.01 for ratio in ratios)
        else "cubic"
    )
