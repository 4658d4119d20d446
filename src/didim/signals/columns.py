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

from didim.errors import InputError, cut, nearest, shortened
from didim.signals.readers.bags import KINDS as STATES
from didim.signals.tables import Table

Array = NDArray[np.float64]
Columns = Mapping[str, str | int | Sequence[str | int]]
"""From a signal to its columns: a name, a number (1 is the first) or a list of them, one for each
joint. A name may be a pattern: "pos*" (matches in the order of their numbers), "pos{j}" (j = 1, 2,
...) or "pos_{joint}" (the robot's joint names).
"""

_NUMBER = re.compile(r"[0-9]+")

_FROM_STATES = dict(zip(STATES, ("q", "dq", "tau"), strict=True))


def signals_of(
    table: Table,
    columns: Columns | None,
    known: Sequence[str],
    where: str,
    joints: Sequence[str] | None = None,
) -> dict[str, Array]:
    """The signals (N, k) that `columns` names, or that carry the usual names."""
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
    return {key: _signal(table, key, names, where, joints) for key, names in columns.items()}


def _listed(names: object) -> list[object]:
    """The names one by one; [None] where they are not a list, or an empty one."""
    return list(names) if isinstance(names, list | tuple) and names else [None]


def listed(table: Table) -> str:
    """The columns of a table for an error message."""
    return cut(", ".join(table), 200)


def usual_names(table: Table, key: str, joints: Sequence[str] | None = None) -> list[str]:
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


def _signal(
    table: Table,
    key: str,
    names: str | int | Sequence[str | int],
    where: str,
    joints: Sequence[str] | None,
) -> Array:
    wanted: list[Any] = list(names) if isinstance(names, list | tuple) else [names]
    if not wanted or not all(
        isinstance(name, str | int) and not isinstance(name, bool) for name in wanted
    ):
        raise InputError(
            f"{where}: columns of {key} must be a name, a number or a list of them, found "
            f"{shortened(names)}."
        )
    parts = []
    for name in (each for one in wanted for each in _expanded(table, one, joints)):
        label = list(table)[name - 1] if isinstance(name, int) and 0 < name <= len(table) else name
        if label not in table:
            raise InputError(
                f"{where}: there is no column {name!r} for {key}; {nearest(str(name), table)}"
            )
        column = table[str(label)]
        parts.append(column[:, None] if column.ndim == 1 else column)
    lengths = {part.shape[0] for part in parts}
    if len(lengths) != 1:
        raise InputError(
            f"{where}: the columns of {key} have different lengths: {sorted(lengths)}."
        )
    return np.hstack(parts)


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
    found = (
        [each for each in table if fnmatchcase(each, name)]
        if any(mark in name for mark in "*?[")
        else []
    )
    return [*sorted(found, key=_by_numbers)] or [name]


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """So that tau2 comes before tau10."""
    return [
        (int(part), "") if _NUMBER.fullmatch(part) else (-1, part)
        for part in re.split(r"([0-9]+)", name)
    ]
