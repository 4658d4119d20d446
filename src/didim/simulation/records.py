"""Experiments made ready for identification: checked against the robot and the loop, put on regular
clocks, their references interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.simulated_loop import EstimatedGains
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, shortened
from didim.robot.labels import joint_label
from didim.signals.experiment import Experiment
from didim.signals.reference import Reference, Trajectory
from didim.signals.resample import period_of, regular
from didim.signals.rows import RowSelection
from didim.simulation.record_set import RecordSet, Start
from didim.validation import per_joint

Array = NDArray[np.float64]

MAX_CONTROL_SAMPLES = 5e6
"""Samples of the control loop in one record, beyond which something is wrong with its clock."""

SILENT = 1e-30
"""A torque below this, N.m or N, is none."""


def record_set(
    model: TorqueModel,
    experiments: Sequence[Experiment],
    controller: Controller | None,
    selection: RowSelection,
    transient: float | None,
    start: Start,
    outputs: tuple[str, ...] = ("tau",),
    shifts: bool = False,
) -> RecordSet:
    """The records of a method that simulates them, in the loop that the robot was in; `shifts` says
    whether the reference may be delayed by less than a sample.
    """
    closed = controller is not None
    cubic = shifts or controller is None
    interpolation = "cubic" if cubic else _interpolation(controller, experiments)
    records = regular_records(model, experiments, interpolation)
    if isinstance(start, tuple):
        for name, value in zip(("q", "dq"), start, strict=True):
            per_joint(value, f"start, {name},", model.robot.n)
    notes: tuple[str, ...] = ()
    if controller is not None:
        _refuse_endless(controller, records)
        arrays = [
            e for e in experiments if not (e.q_ref is None or isinstance(e.q_ref, Trajectory))
        ]
        if arrays and controller.rate is not None and interpolation != "held" and not shifts:
            notes = (
                f"The log's clock does not match that of the loop ({controller.rate:g} Hz): the "
                "reference was interpolated by cubics. Give a didim.Reference to choose otherwise.",
            )
    cut = transient if closed else (transient or 0.0)
    return RecordSet(tuple(records), selection, cut, start, interpolation, outputs, closed, notes)


def regular_records(
    model: TorqueModel, experiments: Sequence[Experiment], interpolation: str = "cubic"
) -> list[Experiment]:
    """The experiments on regular clocks; refused where one is of another robot or has no torque at
    a joint.
    """
    found = []
    for experiment in experiments:
        check_joints(model, experiment)
        refuse_silent(model, experiment)
        found.append(regular(experiment, interpolation))
    return found


def estimates_delay(
    controller: Controller | None,
    gains: EstimatedGains,
    delay: bool | None,
    experiments: Sequence[Experiment],
) -> bool:
    """Whether a delay of the reference is estimated: as set; None: with all gains of a sampled
    law.
    """
    references = [e.q_ref for e in experiments if isinstance(e.q_ref, Reference)]
    held = any(reference.interpolation == "held" for reference in references)
    if delay and held:
        raise InputError(
            "estimate_delay needs a reference that can be shifted by less than a sample; give it "
            'as an array, or as a didim.Reference with interpolation="linear" or "cubic" instead '
            'of "held".'
        )
    sampled = controller is not None and controller.rate is not None
    return (gains is True and sampled and not held) if delay is None else delay


def record_notes(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """Notes of the records, each with the name of its record."""
    return tuple(f"{each.name or 'record'}: {note}" for each in experiments for note in each.notes)


def check_start(start: Start, where: str) -> Start:
    """An initial state of the simulations: None, "tracking" or (q, dq)."""
    if start is None or (isinstance(start, str) and start == "tracking"):
        return start
    try:
        q, dq = (np.atleast_1d(np.asarray(each, dtype=float)) for each in start)
    except (TypeError, ValueError):
        raise InputError(
            f'{where}: start must be None, "tracking" or a pair (q, dq) at the first sample, found '
            f"{shortened(start)}."
        ) from None
    return q, dq


def check_joints(model: TorqueModel, experiment: Experiment) -> None:
    """Refuse what is no experiment, or one of another robot."""
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment must be a didim.Experiment, found {type(experiment).__name__}."
        )
    if experiment.n != model.robot.n:
        raise InputError(
            f"Experiment {experiment.name!r} has {experiment.n} joints, robot {model.robot.name!r} "
            f"has {model.robot.n}."
        )


def refuse_silent(model: TorqueModel, experiment: Experiment) -> None:
    """Refuse a record in which a joint has no torque."""
    silent = np.flatnonzero(np.abs(np.asarray(experiment.tau)).max(axis=0) < SILENT)
    if silent.size:
        j = int(silent[0])
        raise InputError(
            f"Experiment {experiment.name!r}: the torque of {joint_label(model.robot, j)} is zero "
            "throughout. "
            "Was it recorded, and is it in the right column?"
        )


def _refuse_endless(controller: Controller, records: Sequence[Experiment]) -> None:
    """A log in milliseconds would be simulated for a thousand times as long."""
    for record in records:
        t = np.asarray(record.t)
        steps = (t[-1] - t[0]) * (controller.rate or 1.0 / max(period_of(t), 1e-3))
        if steps > MAX_CONTROL_SAMPLES:
            raise InputError(
                f"Experiment {record.name!r} lasts {t[-1] - t[0]:.4g} s, {steps:.2g} samples of "
                "the control loop. Is t in seconds? If it is, split the record."
            )


def _interpolation(controller: Controller | None, experiments: Sequence[Experiment]) -> str:
    """Of references on t: held where each sample of the law meets one of the log, else cubic."""
    if controller is None or controller.rate is None:
        return "cubic"
    ratios = [1.0 / (period_of(np.asarray(each.t)) * controller.rate) for each in experiments]
    held = all(ratio > 0.9 and abs(ratio - round(ratio)) < 0.01 for ratio in ratios)
    return "held" if held else "cubic"
