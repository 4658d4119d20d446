"""What a log probably holds, for `didim init --data`: by the names of its columns, or by what they
hold where they have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from didim.signals.readers.table import Table
from didim.study.content import Block, content_of, numbers_of, unit_of_time
from didim.study.names import guessed_columns, guessed_units

Named = str | int | list[str] | list[int]
"""Columns as a study writes them."""


@dataclass(frozen=True)
class Guess:
    """What a log probably holds."""

    columns: dict[str, Named]
    units: dict[str, str]
    """Where they are not SI."""
    remarks: tuple[str, ...] = ()
    """What the columns were taken for, and what is asked for, in sentences."""

    @property
    def missing(self) -> list[str]:
        """Signals that a study needs and that could not be guessed."""
        choices = (("t",), ("tau", "control"), ("q", "q_ref"))
        return [keys[0] for keys in choices if not {*keys} & {*self.columns}]


def guess(table: Table, joints: Sequence[str]) -> Guess:
    """Columns and units of a log of these joints: from the names, and from what the columns hold
    where they have none.
    """
    if not table.headed:
        return _by_content(table, len(joints))
    columns = guessed_columns(table, joints)
    units = guessed_units(columns, table.units)
    remarks: tuple[str, ...] = ()
    time = columns.get("t")
    if isinstance(time, str) and "t" not in units and (unit := unit_of_time(table[time])) != "s":
        units["t"] = unit
        remarks = (f"By its steps, the time is in {unit}. Correct it where it is wrong.",)
    return Guess({**columns}, units, remarks)


def _by_content(table: Table, n: int) -> Guess:
    found = content_of([*table.values()], n)
    columns: dict[str, Named] = {}
    seen = []
    if found.time is not None:
        columns["t"] = found.time + 1
        seen.append(f"column {found.time + 1} rises steadily: t")
    positions: list[Block] = [*dict.fromkeys(q for q, _ in found.pairs)]
    if positions:
        q, dq = map(numbers_of, found.pairs[0])
        columns |= {"q": q, "dq": dq}
        seen.append(f"{_shown(q)} are the integrals of {_shown(dq)}: q and dq")
    if len(positions) == 2:
        columns["q_ref"] = numbers_of(positions[1])
        seen.append(f"{_shown(columns['q_ref'])} are smoother positions: q_ref")
    rest = [block for block in found.rest if positions]
    if len(rest) == 1:
        columns["tau"] = numbers_of(rest[0])
        seen.append(f"{_shown(columns['tau'])} remain: tau, or control if they are no torques")
    remarks = ["The file has no header: columns are counted from 1."]
    remarks += [f"By what they hold, {'; '.join(seen)}. Correct it where it is wrong."] * bool(seen)
    there = [*table.values()]
    unit = found.unit if positions or found.time is None else unit_of_time(there[found.time])
    units = {"t": unit} if unit != "s" else {}
    largest = {
        numbers: max(float(np.nanmax(np.abs(there[k]), initial=0.0)) for k in block)
        for block in found.rest
        if isinstance(numbers := numbers_of(block), str)
    }
    guessed = Guess(columns, units)
    if guessed.missing and largest:
        sizes = ", ".join(f"{_shown(block)} (up to {size:.3g})" for block, size in largest.items())
        remarks.append(f"Not yet named: {sizes}.")
    if "tau" in guessed.missing:
        example = _shown(numbers_of(found.rest[0])) if found.rest else '"14-19"'
        remarks.append(
            f"Which are the joint torques? Add tau = {example} to columns; if they are currents or "
            f"voltages, control = {example}, and drive_gain below."
        )
    return replace(guessed, remarks=tuple(remarks))


def _shown(numbers: Named) -> str:
    return f'"{numbers}"' if isinstance(numbers, str) else str(numbers)
