"""From files and the names of their columns to signals (N, k), as they are logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, shortened
from didim.signals.columns import Columns, columns_of, listed, signal_of
from didim.signals.readers.table import Table
from didim.signals.tables import read_table
from didim.signals.units import NAMES, unit_named
from didim.validation import real

Array = NDArray[np.float64]
Path_ = str | PathLike[str]
Files = Path_ | Mapping[str, Path_ | Sequence[Path_]]
"""One file, or one for each signal, or a list of them for a signal, one for each joint."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """What the files hold."""

    signals: dict[str, Array]
    """(N, k) each, with the time t (N, 1); nan where a row is damaged or has no value."""
    where: str
    """How messages call the files."""
    there: str
    """The columns that are there, for messages."""
    units: dict[str, str]
    """From a signal to the unit that a row of units states for it."""
    notes: tuple[str, ...]
    damaged: dict[int, str]
    """From a row (0 is the first) to what its line was."""


def gather(
    path: Files,
    columns: Columns | None,
    known: Sequence[str],
    rate: float | None,
    joints: Sequence[str] | None,
    channels: Sequence[str] = (),
) -> Gathered:
    """The signals of some files: those that `columns` names, or with the usual names; of a file
    that is given for one signal, all columns. `channels` are further signals of one column each.
    """
    known = (*known, *channels)
    signals: dict[str, Array] = {}
    units: dict[str, str] = {}
    tables: dict[str, Table] = {}
    if isinstance(path, Mapping):
        for key, files in _files(path, columns).items():
            parts = []
            for each in files:
                table = tables.setdefault(str(each), read_table(each))
                names: Columns = {
                    key: list(table) if columns is None or key not in columns else columns[key]
                }
                chosen = columns_of(table, names, known, Path(each).name, joints)[key]
                parts.append(signal_of(table, key, chosen, Path(each).name))
                units |= _stated(table, {key: chosen})
            signals[key] = _joined(parts, key, files)
    else:
        table = tables.setdefault(str(path), read_table(path))
        where = Path(path).name
        found = columns_of(table, columns, known, where, joints)
        signals = {key: signal_of(table, key, names, where) for key, names in found.items()}
        units = _stated(table, found)
    where = ", ".join(Path(each).name for each in tables)
    there = "; ".join(listed(table) for table in tables.values())
    _check(signals, where, joints, ("t", *channels))
    if "t" not in signals and rate is None:
        raise InputError(
            f"{where}: which column is the time? Name it in columns, as t, or give rate; there are "
            f"{there}."
        )
    if "t" in signals and rate is not None:
        raise InputError(f"{where}: the time is given twice, as a column and by rate.")
    if rate is not None and signals:
        period = 1.0 / real(rate, f"{where}: rate, in samples per second,", above=0.0)
        count = len(next(iter(signals.values())))
        signals["t"] = period * np.arange(count, dtype=np.float64)[:, None]
    several = len(tables) > 1
    return Gathered(
        signals,
        where,
        there,
        units,
        tuple(
            f"{Path(name).name}: {note}" if several else note
            for name, table in tables.items()
            for note in table.notes
        ),
        {
            row: f"{Path(name).name}, {line}" if several else line
            for name, table in tables.items()
            for row, line in table.damaged.items()
        },
    )


def _files(
    path: Mapping[str, Path_ | Sequence[Path_]], columns: Columns | None
) -> dict[str, list[Path_]]:
    """The files of each signal."""
    for key in columns or {}:
        if key not in path:
            raise InputError(f"columns names {key!r}, for which no file is given.")
    if not path:
        raise InputError(
            "No file is given; give one for each signal, such as {'tau': 'torque.csv'}."
        )
    found = {
        key: [each] if isinstance(each, str | PathLike) else _listed(each)
        for key, each in path.items()
    }
    for key, each in found.items():
        if not each:
            raise InputError(
                f"The files of {key} must be one, or a list of one for each joint, found "
                f"{shortened(path[key])}."
            )
    return found


def _listed(files: object) -> list[Path_]:
    return list(files) if isinstance(files, list | tuple) else []


def _joined(parts: Sequence[Array], key: str, files: Sequence[Path_]) -> Array:
    """The columns of several files side by side."""
    if len({len(part) for part in parts}) > 1:
        sizes = ", ".join(
            f"{Path(file).name} {len(part)}" for file, part in zip(files, parts, strict=True)
        )
        raise InputError(f"The files of {key} differ in length: {sizes} rows.")
    return np.hstack(parts)


def _stated(table: Table, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The unit of each signal, where the file states the same one for all its columns."""
    found = {
        key: {unit_named(table.units.get(name, "")) for name in names}
        for key, names in columns.items()
    }
    return {
        key: each.pop()
        for key, each in found.items()
        if key in NAMES and len(each) == 1 and each != {""}
    }


def _check(
    signals: Mapping[str, Array],
    where: str,
    joints: Sequence[str] | None,
    single: Sequence[str],
) -> None:
    for key, signal in signals.items():
        if key in single and signal.shape[1] != 1:
            raise InputError(f"{where}: {key} must be one column, found {signal.shape[1]}.")
        if joints is not None and key not in single and signal.shape[1] != len(joints):
            raise InputError(
                f"{where}: {key} has {signal.shape[1]} columns, the robot has {len(joints)} joints "
                f"({', '.join(joints)}); "
                f"name one column for each."
            )
    lengths = {key: value.shape[0] for key, value in signals.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"{where}: the signals differ in length: "
            f"{', '.join(f'{key} {size}' for key, size in lengths.items())}."
        )
