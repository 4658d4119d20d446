"""Which column of a file is which signal: by name, by number, by pattern, by the robot's joints, or
by the usual names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, by_numbers, cut, nearest, shortened
from didim.signals.readers.bags import KINDS as STATES
from didim.signals.readers.table import Table

Array = NDArray[np.float64]
Columns = Mapping[str, str | int | Sequence[str | int]]
"""From a signal to its columns: a name, a number (1 is the first) or a list of them, one for each
joint. A name may be a range of numbers, "2-7" or "2-4, 8", or a pattern: "pos*" (matches in the
order of their numbers), "pos{j}" (j = 1, 2, ...) or "pos_{joint}" (the robot's joint names).
"""

_RANGES = re.compile(r"\s*\d{1,9}(\s*-\s*\d{1,9})?(\s*,\s*\d{1,9}(\s*-\s*\d{1,9})?)*\s*", re.ASCII)
"""Numbers and ranges of columns, "2-7" or "2-4, 8"."""

_FROM_STATES = dict(zip(STATES, ("q", "dq", "tau"), strict=True))


def columns_of(
    table: Table,
    columns: Columns | None,
    known: Sequence[str],
    where: str,
    joints: Sequence[str] | None = None,
) -> dict[str, list[str]]:
    """From a signal to its columns in the table, as `columns` or the usual names say."""
    if joints is not None and (
        isinstance(joints, str) or not all(isinstance(joint, str) for joint in _listed(joints))
    ):
        raise InputError(f"joints must be a list of names, found {shortened(joints)}.")
    if columns is None:
        columns = {key: found for key in known if (found := usual_names(table, key, joints))}
    if not isinstance(columns, Mapping):
        raise InputError(
            f"{where}: columns must be a table from signal to column names, found "
            f"{shortened(columns)}."
        )
    for key in columns:
        if key not in known:
            raise InputError(
                f"{where}: columns has the unknown signal {key!r}; {nearest(str(key), known)}"
            )
    return {key: _columns(table, key, names, where, joints) for key, names in columns.items()}


def signal_of(table: Table, key: str, names: Sequence[str], where: str) -> Array:
    """The signal (N, k) that some columns of a table form."""
    parts = [table[name] for name in names]
    lengths = {part.shape[0] for part in parts}
    if len(lengths) != 1:
        raise InputError(
            f"{where}: the columns of {key} have different lengths: {sorted(lengths)}."
        )
    return np.hstack([part[:, None] if part.ndim == 1 else part for part in parts])


def _listed(names: object) -> list[object]:
    """The names one by one; [None] where they are not a list, or an empty one."""
    return list(names) if isinstance(names, list | tuple) and names else [None]


def listed(table: Table) -> str:
    """The columns of a table for an error message."""
    if not table.headed and len(table) > 1:
        return f"columns 1 to {len(table)} without names, counted from 1"
    return cut(", ".join(table), 200)


def usual_names(
    table: Mapping[str, Array], key: str, joints: Sequence[str] | None = None
) -> list[str]:
    """The columns that carry the usual names of a signal: key, key1, key2, ..., or a bag's
    effort/<joint> and the like.
    """
    if key in table:
        return [key]
    for kind, signal in _FROM_STATES.items():
        stated = [name for name in table if signal == key and name.startswith(f"{kind}/")]
        if stated:
            return stated if joints is None else [f"{kind}/{joint}" for joint in joints]
    numbered = {
        name: int(found[1]) for name in table if (found := re.fullmatch(rf"{key}_?(\d+)", name))
    }
    if sorted(numbered.values()) not in (
        [],
        list(range(1, len(numbered) + 1)),
        list(range(len(numbered))),
    ):
        raise InputError(
            f"Columns {', '.join(numbered)} are not numbered 1, 2, ...; say which is which with "
            f"columns={{...}}."
        )
    return sorted(numbered, key=lambda name: numbered[name])


def _columns(
    table: Table,
    key: str,
    names: str | int | Sequence[str | int],
    where: str,
    joints: Sequence[str] | None,
) -> list[str]:
    wanted: list[Any] = list(names) if isinstance(names, list | tuple) else [names]
    if not wanted or not all(
        isinstance(name, str | int) and not isinstance(name, bool) for name in wanted
    ):
        raise InputError(
            f"{where}: columns of {key} must be a name, a number or a list of them, found "
            f"{shortened(names)}."
        )
    there, found = list(table), []
    for name in (each for one in wanted for each in _expanded(table, one, joints)):
        label = there[name - 1] if isinstance(name, int) and 0 < name <= len(there) else name
        if label not in table:
            hint = (
                f"there are {listed(table)}."
                if isinstance(name, int) or not table.headed
                else nearest(str(name), table)
            )
            raise InputError(f"{where}: there is no column {name!r} for {key}; {hint}")
        found.append(str(label))
    return found


def _expanded(table: Table, name: str | int, joints: Sequence[str] | None) -> list[str | int]:
    """The columns that one entry stands for; itself where it is a column, or no pattern."""
    if isinstance(name, int) or name in table:
        return [name]
    if joints is not None and ("{joint}" in name or "{j}" in name):
        return [
            name.replace("{joint}", joint).replace("{j}", str(j + 1))
            for j, joint in enumerate(joints)
        ]
    if "{j}" in name:
        counted = (name.replace("{j}", str(j)) for j in count(1))
        return [*takewhile(table.__contains__, counted)] or [name]
    if _RANGES.fullmatch(name):
        return _counted(name, len(table))
    found = (
        [each for each in table if fnmatchcase(each, name)]
        if any(mark in name for mark in "*?[")
        else []
    )
    return [*sorted(found, key=by_numbers)] or [name]


def _counted(text: str, most: int) -> list[str | int]:
    """The numbers that "2-4, 8" stands for; of a range that leaves the table, the first and last
    number.
    """
    found: list[str | int] = []
    for part in text.split(","):
        first, _, last = (each.strip() for each in part.partition("-"))
        start, end = int(first), int(last or first)
        step = 1 if end >= start else -1
        inside = min(start, end) > 0 and max(start, end) <= most
        found += range(start, end + step, step) if inside else [start, end]
    return found
