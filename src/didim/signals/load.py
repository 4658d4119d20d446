"""`load_experiment` and `load_reference`: from files and the names of their columns to an
`Experiment` or a `Reference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, shortened
from didim.robot.drive import Drive
from didim.signals.columns import Columns, listed, signals_of
from didim.signals.experiment import Experiment
from didim.signals.reference import Reference, Trajectory
from didim.signals.tables import KINDS, read_table
from didim.signals.units import Units, in_si
from didim.validation import per_joint, real

Array = NDArray[np.float64]
Files = str | PathLike[str] | Mapping[str, str | PathLike[str]]
"""One file, or one for each signal."""

_EXPERIMENT = ("t", "tau", "control", "q_ref", "q", "dq")
_REFERENCE = ("t", "q_ref", "dq_ref", "ddq_ref")


@dataclass(frozen=True, eq=False)
class Conversion:
    """How logged numbers become joint-side SI: units, then gears, then the zero of the
    positions.
    """

    units: Units | None = None
    """From a signal to a unit's name, or to the factor that brings it to SI."""
    gear: ArrayLike | None = None
    """(n,) or (n, n) Kr, motor velocity per joint velocity, where the log is of the motors: q =
    Kr^-1 q_m, tau = Kr' tau_m. A control signal is not geared: g of (9) contains the gears.
    """
    position_offset: ArrayLike | None = None
    """(n,) added to the positions, rad or m: the model's zero where the log has another."""

    def __call__(self, signals: Mapping[str, Array], where: str) -> dict[str, Array]:
        """The signals (N, n) of a log, converted."""
        found = in_si(signals, self.units, where)
        if self.gear is not None:
            for key in [key for key in found if key not in ("t", "control")]:
                drive = _drive(self.gear, found[key].shape[1], where)
                found[key] = (
                    drive.joint_torque(found[key])
                    if key == "tau"
                    else drive.joint_position(found[key])
                )
        if self.position_offset is not None:
            if not {"q", "q_ref"} & set(found):
                raise InputError(f"{where}: position_offset is given, but there are no positions.")
            for key in [key for key in ("q", "q_ref") if key in found]:
                n = found[key].shape[1]
                found[key] = found[key] + per_joint(
                    self.position_offset, f"{where}: position_offset", n
                )
        return found


def load_experiment(
    path: Files,
    columns: Columns | None = None,
    *,
    reference: ArrayLike | Trajectory | None = None,
    drive_gain: ArrayLike | None = None,
    usual_gain: ArrayLike | None = None,
    name: str | None = None,
    rate: float | None = None,
    joints: Sequence[str] | None = None,
    units: Units | None = None,
    gear: ArrayLike | None = None,
    position_offset: ArrayLike | None = None,
) -> Experiment:
    """Read a record.

    Parameters
    ----------
    path
        A .csv, .tsv, .txt (also .gz), .mat, .npz, .parquet, .bag or .mcap file, or the folder of a
        ROS 2 bag; or one for each signal.
    columns
        Which column is what: keys t, tau (or control), q_ref, q, dq; values a name, a number (1 is
        the first) or a list of them, one for each joint; patterns "pos*", "pos{j}" and, with
        `joints`, "pos_{joint}". None: columns called t, tau1, tau2, ... (or arrays called t, tau,
        ...), or the joint states of a bag; of a file that is given for one signal, all.
    reference
        The reference, where the file has none: a `Reference` from `load_reference`, a trajectory or
        an array on t.
    drive_gain
        With `control`: g of (8), one number, (n,) or (n, n); tau = g v.
    usual_gain
        The same, where the record may have tau or control and `drive_gain` is not given.
    name
        Of the experiment; None: that of the file.
    rate
        Samples per second, where there is no time.
    joints
        (n,) names of the robot's joints, in its order, for patterns and bags.
    units, gear, position_offset
        See `Conversion`: what brings the log to SI and to the joint side.
    """
    chosen, where, there = _gather(path, columns, _EXPERIMENT, rate, joints)
    if ("tau" in chosen) == ("control" in chosen):
        raise InputError(
            f"{where}: give either tau or control (with drive_gain) in columns; there are {there}."
        )
    if reference is not None and "q_ref" in chosen:
        raise InputError(f"{where}: the reference is given twice, as a column and as reference=.")
    chosen = Conversion(units, gear, position_offset)(chosen, where)
    if "control" in chosen:
        chosen["tau"] = _torque(
            chosen.pop("control"), usual_gain if drive_gain is None else drive_gain, where
        )
    elif drive_gain is not None:
        raise InputError(f"{where}: drive_gain belongs to control; tau is in N.m already.")
    kept, notes = _rising(chosen, where)
    q_ref = kept.get("q_ref") if reference is None else reference
    if (
        len(kept["t"]) < len(chosen["t"])
        and reference is not None
        and not isinstance(reference, Trajectory)
    ):
        raise InputError(
            f"{where}: samples repeat, so that a reference on t is ambiguous; give a "
            "didim.Reference."
        )
    title = _stem(where) if name is None else name
    return Experiment(
        kept["t"][:, 0], kept["tau"], q_ref, kept.get("q"), kept.get("dq"), title, tuple(notes)
    )


def load_reference(
    path: Files,
    columns: Columns | None = None,
    *,
    interpolation: str = "cubic",
    rate: float | None = None,
    joints: Sequence[str] | None = None,
    units: Units | None = None,
    gear: ArrayLike | None = None,
    position_offset: ArrayLike | None = None,
) -> Reference:
    """Read a reference: keys t, q_ref, dq_ref, ddq_ref of `columns`, everything else as for
    `load_experiment`.
    """
    chosen, where, there = _gather(path, columns, _REFERENCE, rate, joints)
    if "q_ref" not in chosen:
        raise InputError(
            f"{where}: which columns are q_ref? Name them in columns; there are {there}."
        )
    kept, _ = _rising(Conversion(units, gear, position_offset)(chosen, where), where)
    return Reference(
        kept["t"][:, 0], kept["q_ref"], kept.get("dq_ref"), kept.get("ddq_ref"), interpolation
    )


def _gather(
    path: Files,
    columns: Columns | None,
    known: Sequence[str],
    rate: float | None,
    joints: Sequence[str] | None,
) -> tuple[dict[str, Array], str, str]:
    """The signals, how errors call their files, and the columns that are there."""
    chosen: dict[str, Array] = {}
    if isinstance(path, Mapping):
        for key in columns or {}:
            if key not in path:
                raise InputError(f"columns names {key!r}, for which no file is given.")
        if not path:
            raise InputError(
                "No file is given; give one for each signal, such as {'tau': 'torque.csv'}."
            )
        tables = {str(each): read_table(each) for each in path.values()}
        for key, each in path.items():
            table = tables[str(each)]
            names: Columns = {
                key: list(table) if columns is None or key not in columns else columns[key]
            }
            chosen |= signals_of(table, names, known, Path(each).name, joints)
    else:
        tables = {str(path): read_table(path)}
        chosen = signals_of(tables[str(path)], columns, known, Path(path).name, joints)
    where = ", ".join(Path(each).name for each in tables)
    for key, signal in chosen.items():
        if joints is not None and key != "t" and signal.shape[1] != len(joints):
            raise InputError(
                f"{where}: {key} has {signal.shape[1]} columns, the robot has {len(joints)} joints "
                f"({', '.join(joints)}); "
                f"name one column for each."
            )
    there = "; ".join(listed(table) for table in tables.values())
    if "t" not in chosen and rate is None:
        raise InputError(
            f"{where}: which column is the time? Name it in columns, as t, or give rate; there are "
            f"{there}."
        )
    if "t" in chosen and rate is not None:
        raise InputError(f"{where}: the time is given twice, as a column and by rate.")
    if rate is not None and chosen:
        period = 1.0 / real(rate, f"{where}: rate, in samples per second,", above=0.0)
        chosen["t"] = (
            period * np.arange(len(next(iter(chosen.values()))), dtype=np.float64)[:, None]
        )
    return chosen, where, there


def _stem(name: str) -> str:
    """A file's name without its ending."""
    ending = next(
        (kind for kind in sorted(KINDS, key=len, reverse=True) if name.lower().endswith(kind)), ""
    )
    return name[: len(name) - len(ending)]


def _drive(gear: ArrayLike, n: int, where: str) -> Drive:
    try:
        matrix = np.asarray(gear, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: gear must be {n} or {n} x {n} numbers, found {shortened(gear)}."
        ) from None
    matrix = np.diag(np.broadcast_to(matrix, (n,))) if matrix.shape in ((), (n,)) else matrix
    if matrix.shape != (n, n):
        raise InputError(
            f"{where}: gear must be one number, {n} or {n} x {n}, found shape {matrix.shape}."
        )
    return Drive(matrix)


def _torque(control: Array, drive_gain: ArrayLike | None, where: str) -> Array:
    """tau (N, n) = g v of a control signal v (N, n).

    Implements (8).
    """
    if drive_gain is None:
        raise InputError(
            f"{where}: control needs drive_gain, the torque per unit of the control signal (8)."
        )
    n = control.shape[1]
    try:
        g = np.asarray(drive_gain, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: drive_gain must be one number, {n} or {n} x {n}, found "
            f"{shortened(drive_gain)}."
        ) from None
    return (
        control @ g.T
        if g.shape == (n, n) and n > 1
        else control * per_joint(g.reshape(-1) if g.size == n else g, "drive_gain", n)
    )


def _rising(signals: dict[str, Array], where: str) -> tuple[dict[str, Array], list[str]]:
    """The signals without samples whose time repeats that of the one before, and a note if there
    were any.
    """
    t = signals["t"]
    if t.shape[1] != 1:
        raise InputError(f"{where}: t must be one column, found {t.shape[1]}.")
    short = {key: value.shape[0] for key, value in signals.items()}
    if len(set(short.values())) != 1:
        raise InputError(
            f"{where}: the signals differ in length: "
            f"{', '.join(f'{key} {size}' for key, size in short.items())}."
        )
    again = np.concatenate([[False], np.diff(t[:, 0]) == 0])
    if not again.any():
        return signals, []
    alike = np.concatenate(
        [[False], np.all(np.diff(np.hstack(list(signals.values())), axis=0) == 0, axis=1)]
    )
    note = (
        f"{int(again.sum())} samples repeat the time of the one before ({int(alike.sum())} of "
        "them in every value): left out."
    )
    return {key: value[~again] for key, value in signals.items()}, [note]
