"""Experiments made ready for identification: checked against the robot and the loop, put on regular
clocks, their references interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import NO_VELOCITY
from didim.control.law import Controller
from didim.control.simulated_loop import EstimatedGains
from didim.dynamics.torque import TorqueModel
from didim.errors import InputError, shortened
from didim.robot.labels import joint_label
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.reference import Reference
from didim.signals.resample import period_of, regular
from didim.signals.rows import RowSelection
from didim.signals.states import measured_positions
from didim.signals.trajectory import Trajectory
from didim.simulation.record_set import RecordSet
from didim.simulation.setup import ENABLED
from didim.simulation.starts import MEASURED, Start
from didim.validation import per_joint

Array = NDArray[np.float64]

MAX_CONTROL_SAMPLES = 5e6
"""Samples of the control loop in one record, beyond which something is wrong with its clock."""

MAX_SATURATED = 0.999
"""Fraction of samples at which a control signal may be at its limit."""

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
    if "tau" in outputs or not closed:
        for record in records:
            measured_torque(record, "the simulated loop" if closed else "open loop")
    measured = isinstance(start, str) and start == MEASURED
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
    cut = transient if closed and not measured else (transient or 0.0)
    found = RecordSet(tuple(records), selection, cut, start, interpolation, outputs, closed, notes)
    driven = model.robot.driven
    if controller is None or all(record.tau is not None for record in records):
        return found if driven.all() else replace(found, driven=driven)
    torques = [commanded(model, controller, record, interpolation) for record in records]
    v = np.concatenate([each @ controller.drive(model).T for each in torques])
    return replace(found, driven=driven, commanded=v.std(axis=0))


def commanded(
    model: TorqueModel, controller: Controller, record: Experiment, interpolation: str = "cubic"
) -> Array:
    """(N, n) the control signal of a loop along the measured positions of a record, limited as the
    loop does it; of its gains on position and velocity alone.
    """
    law = controller.during(record.gains).resolve(model, np.ones(model.robot.n))
    q, t = measured_positions(record, "a record without torques"), np.asarray(record.t)
    q_ref, dq_ref, _ = record.reference(interpolation).sample(t)
    dq = 0.0 * q if law.velocity == NO_VELOCITY else np.gradient(q, t, axis=0)
    v = law.kv * (law.kp * (q_ref - q) + law.ff * dq_ref - dq)
    on = record.channels.get(ENABLED, np.ones(t.size))
    return np.clip(v, -law.saturation, law.saturation) * on[:, None]


def refuse_saturated(
    model: TorqueModel, controller: Controller, experiments: Sequence[Experiment]
) -> None:
    """Refuse records in which the control signal of a joint is never off its limit: such positions
    do not depend on the law.
    """
    limit = controller.resolve(model, np.ones(model.robot.n)).saturation
    for j in np.flatnonzero(np.isfinite(limit)):
        signals = [np.abs(commanded(model, controller, each)[:, j]) for each in experiments]
        on = np.concatenate([v[v > 0] for v in signals])
        if on.size and np.mean(on >= limit[j]) > MAX_SATURATED:
            raise InputError(
                f"The control signal of {joint_label(model.robot, int(j))} is at its limit, "
                f"{limit[j]:g}, throughout the records: they do not show the loop. Use a smaller "
                "or slower reference, and check kp, its unit and the units of the positions."
            )


def regular_records(
    model: TorqueModel, experiments: Sequence[Experiment], interpolation: str = "cubic"
) -> list[Experiment]:
    """The experiments on regular clocks; refused where one is of another robot or has a torque of
    zero at a joint.
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
    """An initial state of the simulations: None, "tracking", "measured" or (q, dq)."""
    if start is None or (isinstance(start, str) and start in ("tracking", MEASURED)):
        return start
    try:
        q, dq = (np.atleast_1d(np.asarray(each, dtype=float)) for each in start)
    except (TypeError, ValueError):
        raise InputError(
            f'{where}: start must be None, "tracking", "measured" or a pair (q, dq) at the first '
            f"sample, found {shortened(start)}."
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
    """Refuse a record in which the torque of a joint that has a motor is zero throughout."""
    if experiment.tau is None:
        return
    silent = np.abs(experiment.tau).max(axis=0) < SILENT
    silent = np.flatnonzero(silent & model.robot.driven)
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
