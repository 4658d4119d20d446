"""`load_experiment` and `load_reference`: from a file and the names of its columns to an `Experiment` or a `Reference`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.door import per_joint
from didim.errors import InputError, nearest, shortened
from didim.signals.experiment import Experiment
from didim.signals.reference import Course, Reference
from didim.signals.tables import Table, read_table

Array = NDArray[np.float64]
Columns = Mapping[str, str | int | Sequence[str | int]]

_EXPERIMENT = ("t", "tau", "control", "q_ref", "q", "dq")
_REFERENCE = ("t", "q_ref", "dq_ref", "ddq_ref")


def load_experiment(
    path: str | PathLike[str],
    columns: Columns | None = None,
    *,
    reference: ArrayLike | Course | None = None,
    drive_gain: ArrayLike | None = None,
    name: str | None = None,
) -> Experiment:
    """Read a record.

    Parameters
    ----------
    path
        A .csv, .csv.gz, .mat (v5) or .npz file.
    columns
        Which column is what: keys t, tau (or control), q_ref, q, dq; values a name, a number (1 is the first) or a list of
        them, one for each joint. None: columns called t, tau1, tau2, ... (or arrays called t, tau, ...).
    reference
        The reference, where the file has none: a `Reference` from `load_reference`, a trajectory or an array on t.
    drive_gain
        With `control`: g of (8), one number, (n,) or (n, n); tau = g v.
    name
        Of the experiment; None: that of the file.
    """
    file = Path(path) if isinstance(path, str | PathLike) else path
    table = read_table(path)
    chosen = _signals(table, columns, _EXPERIMENT, file.name)
    if "t" not in chosen:
        raise InputError(f"{file.name}: which column is the time? Give columns={{'t': ...}}; there are {_listed(table)}.")
    if ("tau" in chosen) == ("control" in chosen):
        raise InputError(f"{file.name}: give either tau or control (with drive_gain) in columns; there are {_listed(table)}.")
    if "control" in chosen:
        chosen["tau"] = _torque(chosen.pop("control"), drive_gain, file.name)
    elif drive_gain is not None:
        raise InputError(f"{file.name}: drive_gain belongs to control; tau is in N.m already.")
    if reference is not None and "q_ref" in chosen:
        raise InputError(f"{file.name}: the reference is given twice, as a column and as reference=.")
    kept, notes = _rising(chosen, file.name)
    q_ref = kept.get("q_ref") if reference is None else reference
    if len(kept["t"]) < len(chosen["t"]) and reference is not None and not isinstance(reference, Course):
        raise InputError(f"{file.name}: samples repeat, so that a reference on t has no clear meaning; give a didim.Reference.")
    title = file.name.split(".")[0] if name is None else name
    return Experiment(kept["t"][:, 0], kept["tau"], q_ref, kept.get("q"), kept.get("dq"), title, tuple(notes))


def load_reference(path: str | PathLike[str], columns: Columns | None = None, *, interpolation: str = "cubic") -> Reference:
    """Read a reference: keys t, q_ref, dq_ref, ddq_ref of `columns`, as for `load_experiment`."""
    table = read_table(path)
    file = Path(path)
    chosen = _signals(table, columns, _REFERENCE, file.name)
    for key in ("t", "q_ref"):
        if key not in chosen:
            raise InputError(
                f"{file.name}: which columns are {key}? Give columns={{{key!r}: ...}}; there are {_listed(table)}."
            )
    kept, _ = _rising(chosen, file.name)
    return Reference(kept["t"][:, 0], kept["q_ref"], kept.get("dq_ref"), kept.get("ddq_ref"), interpolation)


def _listed(table: Table) -> str:
    return shortened(", ".join(table), 200).strip("'")


def _signals(table: Table, columns: Columns | None, known: Sequence[str], where: str) -> dict[str, Array]:
    """The signals (N, k) that `columns` names, or that carry the usual names."""
    if columns is None:
        columns = {key: found for key in known if (found := _usual(table, key))}
    if not isinstance(columns, Mapping):
        raise InputError(f"{where}: columns must be a table from signal to column names, found {shortened(columns)}.")
    for key in columns:
        if key not in known:
            raise InputError(f"{where}: columns has the unknown signal {key!r}; {nearest(str(key), known)}")
    return {key: _signal(table, key, names, where) for key, names in columns.items()}


def _usual(table: Table, key: str) -> list[str]:
    if key in table:
        return [key]
    numbered = {name: int(found[1]) for name in table if (found := re.fullmatch(rf"{key}_?(\d+)", name))}
    if sorted(numbered.values()) not in ([], list(range(1, len(numbered) + 1)), list(range(len(numbered)))):
        raise InputError(f"Columns {', '.join(numbered)} are not numbered 1, 2, ...; say which is which with columns={{...}}.")
    return sorted(numbered, key=lambda name: numbered[name])


def _signal(table: Table, key: str, names: str | int | Sequence[str | int], where: str) -> Array:
    wanted = list(names) if isinstance(names, list | tuple) else [names]
    if not wanted or not all(isinstance(name, str | int) and not isinstance(name, bool) for name in wanted):
        raise InputError(f"{where}: columns of {key} must be a name, a number or a list of them, found {shortened(names)}.")
    parts = []
    for name in wanted:
        label = list(table)[name - 1] if isinstance(name, int) and 0 < name <= len(table) else name
        if label not in table:
            raise InputError(f"{where}: there is no column {name!r} for {key}; {nearest(str(name), table)}")
        column = table[str(label)]
        parts.append(column[:, None] if column.ndim == 1 else column)
    lengths = {part.shape[0] for part in parts}
    if len(lengths) != 1:
        raise InputError(f"{where}: the columns of {key} have different lengths: {sorted(lengths)}.")
    return np.hstack(parts)


def _torque(control: Array, drive_gain: ArrayLike | None, where: str) -> Array:
    """tau = g v, eq. 8."""
    if drive_gain is None:
        raise InputError(f"{where}: control needs drive_gain, the torque per unit of the control signal (8).")
    n = control.shape[1]
    try:
        g = np.asarray(drive_gain, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{where}: drive_gain must be one number, {n} or {n} x {n}, found {shortened(drive_gain)}.") from None
    return (
        control @ g.T
        if g.shape == (n, n) and n > 1
        else control * per_joint(g.reshape(-1) if g.size == n else g, "drive_gain", n)
    )


def _rising(signals: dict[str, Array], where: str) -> tuple[dict[str, Array], list[str]]:
    """The signals without samples whose time repeats that of the one before, and a note if there were any."""
    t = signals["t"]
    if t.shape[1] != 1:
        raise InputError(f"{where}: t must be one column, found {t.shape[1]}.")
    short = {key: value.shape[0] for key, value in signals.items()}
    if len(set(short.values())) != 1:
        raise InputError(f"{where}: the signals differ in length: {', '.join(f'{key} {size}' for key, size in short.items())}.")
    again = np.concatenate([[False], np.diff(t[:, 0]) == 0])
    if not again.any():
        return signals, []
    alike = np.concatenate([[False], np.all(np.diff(np.hstack(list(signals.values())), axis=0) == 0, axis=1)])
    note = (
        f"{int(again.sum())} samples repeat the time of the one before ({int(alike.sum())} of them in every value): left out."
    )
    return {key: value[~again] for key, value in signals.items()}, [note]
