"""The experiments that a study describes: files read, converted, aligned and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from didim.control.law import Controller
from didim.dynamics.model import DynamicModel
from didim.errors import InputError, nearest
from didim.robot.robot import Robot
from didim.signals.alignment import motion_frequency, time_offset
from didim.signals.experiment import Experiment
from didim.signals.filters import lowpass
from didim.signals.load import load_experiment, load_reference
from didim.signals.reference import Reference
from didim.signals.resample import period_of, regular
from didim.signals.states import measured_positions
from didim.simulation.prepare import loop_lag
from didim.study.paths import existing
from didim.study.record_schema import ExperimentTable, ReferenceTable, WithChannels

_OF_FILE = (
    "file",
    "columns",
    "rate",
    "units",
    "gear",
    "position_offset",
    "q_ref_start",
    "interpolation",
)
"""Keys of a reference that has a file of its own."""


def experiment_of(
    table: ExperimentTable,
    index: int,
    model: DynamicModel,
    controller: Controller | None,
    folder: Path,
    in_control_units: bool = False,
) -> Experiment:
    """The record of a table [[experiment]]; in control units where the gains are to be found."""
    key, robot = f"experiment.{index}", model.robot
    for name in ("columns", "file"):
        _check_channels(getattr(table, name), model, f"{key}.{name}")
    if in_control_units and table.drive_gain is not None:
        raise InputError(f"{key}.drive_gain: [drive_gains] identifies it; keep one of them.")
    path: Any
    if isinstance(table.file, str):
        path = existing(table.file, folder, f"{key}.file")
    else:
        path = {
            name: [existing(text, folder, f"{key}.file.{name}") for text in texts]
            for name, texts in table.file.lists.items()
        }
        if not path:
            raise InputError(
                f"{key}.file: the table is empty; give a file for each signal, such as tau = "
                '"torque.csv".'
            )
    record = load_experiment(
        path,
        None if table.columns is None else table.columns.all,
        rate=table.rate,
        joints=robot.joint_names,
        units=None if table.units is None else table.units.given(),  # type: ignore[arg-type]
        gear=_gear(table.gear, robot, f"{key}.gear"),
        position_offset=table.position_offset,
        drive_gain=table.drive_gain,
        usual_gain=1.0 if in_control_units else _drive_gain(robot, controller),
        name=table.name,
        rows=table.rows,
        torque_delay=table.torque_delay,
        q_ref_start=table.q_ref_start,
        channels=model.channels,
        gains=table.gains,
    )
    for channel, effect in model.layout.needs.items():
        if channel not in record.channels:
            raise InputError(
                f"{key}: the effect {effect!r} needs the channel {channel!r}, which experiment "
                f"{record.name!r} does not have; name its column: columns = {{ {channel} = ... }}."
            )
    if table.reference is not None:
        record = _with_reference(
            record, table.reference, model, controller, folder, f"{key}.reference"
        )
    return record if table.between is None else record.between(*table.between)


def _check_channels(table: object, model: DynamicModel, key: str) -> None:
    """Refuse keys of a table of columns or files that are neither signals nor channels of the
    model's effects.
    """
    if isinstance(table, WithChannels):
        known = (*type(table).model_fields, *model.channels)
        for name in table.channels:
            if name not in known:
                raise InputError(f"unknown key '{key}.{name}'; {nearest(name, known)}")


def parts_of(record: Experiment, table: ExperimentTable) -> dict[str, Experiment]:
    """What is fitted to, "fit", and what is validated on, "validate": the record, or its parts."""
    if table.hold_out is None:
        return {table.use: record}
    if table.use != "fit":
        raise InputError(f'Experiment {record.name!r}: hold_out belongs to use = "fit".')
    count = record.t.size
    first = count - max(2, round(table.hold_out * count))
    if first < 2:
        raise InputError(
            f"Experiment {record.name!r}: {count} samples are too few to hold out a part of them."
        )
    begin, last, held, end = (float(record.t[k]) for k in (0, first - 1, first, -1))
    tried = record.between(held, end)
    return {
        "fit": record.between(begin, last),
        "validate": replace(tried, name=f"{record.name} (last {100 * table.hold_out:.0f} %)"),
    }


def used_records(
    use: str, records: Sequence[Experiment], tables: Sequence[ExperimentTable]
) -> list[Experiment]:
    """The records of a use, "fit" or "validate", or their parts; without those that carry a
    load.
    """
    return [
        part
        for record, table in zip(records, tables, strict=True)
        for key, part in parts_of(record, table).items()
        if key == use and not table.load
    ]


def _gear(gear: Any, robot: Robot, key: str) -> Any:
    if gear != "robot":
        return gear
    if robot.drive is None:
        raise InputError(
            f"{key}: robot {robot.name!r} describes no gears; give them here, one number for each "
            "joint."
        )
    return robot.drive.gear


def _drive_gain(robot: Robot, controller: Controller | None) -> Any:
    """g of (8) where the record gives none: the controller's, or the robot's."""
    if controller is not None and controller.drive_gain is not None:
        return controller.drive_gain
    return None if robot.drive is None else robot.drive.gain


def _with_reference(
    record: Experiment,
    table: ReferenceTable,
    model: DynamicModel,
    controller: Controller | None,
    folder: Path,
    key: str,
) -> Experiment:
    sources = [name for name in ("file", "measured_cutoff") if getattr(table, name) is not None]
    if len(sources) + (record.q_ref is not None) > 1:
        raise InputError(
            f"{key}: the reference comes from several places ({', '.join(sources)}, "
            "columns.q_ref); keep one."
        )
    used = _OF_FILE if table.file is not None else ("measured_cutoff", "interpolation")
    for name in table.given("align", "shift"):
        if name not in used:
            raise InputError(
                f"{key}.{name} belongs to a reference with a file of its own; remove it, or give "
                f"{key}.file."
            )
    if table.align and table.shift is not None:
        raise InputError(f"{key}: give either align or shift, not both.")
    if table.file is not None:
        record = replace(record, q_ref=_from_file(table, model.robot, folder, key))
    elif table.measured_cutoff is not None:
        record = _from_motion(record, table.measured_cutoff, table.interpolation or "cubic", key)
    elif record.q_ref is None:
        raise InputError(
            f"{key}: where is the reference? Give file, measured_cutoff, or columns.q_ref of the "
            "record."
        )
    elif table.interpolation is not None:
        record = replace(
            record,
            q_ref=Reference(record.t, np.asarray(record.q_ref), interpolation=table.interpolation),
        )
    if table.shift is not None:
        return record.aligned(table.shift)
    if table.align:
        lag = (
            0.0
            if controller is None
            else loop_lag(model.base, model.base.nominal, controller, motion_frequency(record))
        )
        found = time_offset(record, lag)
        return replace(moved := record.aligned(found.seconds), notes=(*moved.notes, str(found)))
    return record


def _from_file(table: ReferenceTable, robot: Robot, folder: Path, key: str) -> Reference:
    return load_reference(
        existing(str(table.file), folder, f"{key}.file"),
        None if table.columns is None else table.columns.given(),  # type: ignore[arg-type]
        interpolation=table.interpolation or "cubic",
        rate=table.rate,
        joints=robot.joint_names,
        units=None if table.units is None else table.units.given(),  # type: ignore[arg-type]
        gear=_gear(table.gear, robot, f"{key}.gear"),
        position_offset=table.position_offset,
        q_ref_start=table.q_ref_start,
    )


def _from_motion(record: Experiment, cutoff: float, interpolation: str, key: str) -> Experiment:
    """The measured positions, low-passed, as the reference."""
    if record.q is None:
        raise InputError(
            f"{key}: measured_cutoff takes the measured positions for the reference; give "
            "columns.q."
        )
    even = regular(record)
    q = lowpass(measured_positions(even), 1.0 / period_of(even.t), cutoff)
    trajectory = Reference(even.t, q, interpolation=interpolation)
    note = (
        f"The reference is the measured motion, low-passed at {cutoff:g} Hz: it was not recorded."
    )
    return replace(record, q_ref=trajectory, notes=(*record.notes, note))
