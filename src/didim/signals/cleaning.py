"""Rows of a log that are used: a part of them, without those that are damaged, have no value, come
late or repeat themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, shortened

Array = NDArray[np.float64]

MAX_DAMAGED_FRACTION = 0.01
"""Fraction of the rows that may be damaged, have no value or come late."""

MAX_RESTARTS = 3
"""Places in which the time falls, at most, where a log looks as if it had been started again."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Signals (N, k), and where they come from."""

    signals: dict[str, Array]
    where: str
    """How messages call the file."""
    number: NDArray[np.intp] = field(default_factory=lambda: np.arange(0))
    """(N,) of each row in the file; 1 is the first."""
    notes: tuple[str, ...] = ()

    def kept(self, keep: NDArray[np.bool_], note: str = "") -> Rows:
        """The rows where `keep` (N,) holds, with a note where that leaves some out."""
        if keep.all():
            return self
        signals = {key: value[keep] for key, value in self.signals.items()}
        notes = (*self.notes, note) if note else self.notes
        return Rows(signals, self.where, self.number[keep], notes)


def part_of(signals: dict[str, Array], rows: Sequence[int] | None, where: str) -> Rows:
    """All rows, or those from the first to the last of `rows`, both included, counted from 1."""
    count = len(signals["t"])
    whole = Rows(signals, where, np.arange(1, count + 1))
    if rows is None:
        return whole
    try:
        first, last = (int(each) if each == int(each) else 0 for each in rows)
    except (TypeError, ValueError, OverflowError):
        first = last = 0
    if not 1 <= first < last:
        raise InputError(
            f"{where}: rows must be two whole numbers, the first and the last row, counted from 1, "
            f"found {shortened(rows)}."
        )
    if last > count:
        raise InputError(f"{where}: rows ends at {last}, but there are only {count} rows.")
    return whole.kept((whole.number >= first) & (whole.number <= last))


def usable(rows: Rows, damaged: Mapping[int, str]) -> Rows:
    """The rows without those that are `damaged` or have no value; refused above 1 %, unless only
    the last line is cut off.
    """
    missing = {
        key: ~np.isfinite(value).all(axis=1)
        for key, value in rows.signals.items()
        if not np.isfinite(value).all()
    }
    if not missing:
        return rows
    bad = np.any([*missing.values()], axis=0)
    broken = [line for at in rows.number[bad] if (line := damaged.get(int(at) - 1))]
    texts = []
    if broken:
        texts.append(f"{_counted(len(broken), 'line is', 'lines are')} damaged ({broken[0]})")
    if (empty := int(bad.sum()) - len(broken)) > 0:
        first = next(int(at) for at in rows.number[bad] if int(at) - 1 not in damaged)
        count = _counted(empty, "row has", "rows have")
        texts.append(f"{count} no value of {', '.join(missing)} (row {first})")
    text = " and ".join(texts)
    fraction = float(bad.mean())
    if fraction > MAX_DAMAGED_FRACTION and not (bad.sum() == 1 and bad[-1] and bad.size > 2):
        start, end = _longest(~bad)
        advice = (
            f"the longest part without is rows = [{rows.number[start]}, {rows.number[end]}]"
            if end > start
            else "repair the log"
        )
        raise InputError(
            f"{rows.where}: {text}, {100 * fraction:.2g} % of {bad.size} rows; all values must be "
            f"finite, but for {100 * MAX_DAMAGED_FRACTION:g} %: {advice}."
        )
    return rows.kept(~bad, f"{text}: left out.")


def in_order(rows: Rows) -> Rows:
    """The rows without those whose time lies before, or repeats, that of a row above."""
    t = rows.signals["t"][:, 0]
    top = np.maximum.accumulate(t)
    late = t < top
    if (fraction := float(late.mean())) > MAX_DAMAGED_FRACTION:
        falls = np.flatnonzero(np.diff(t) < 0)
        k = int(falls[0])
        first, last = _longest(np.concatenate([[True], np.diff(t) > 0]))
        first = max(0, first - 1)
        advice = (
            "was the log started again, or does its clock wrap around? Take one part of it: "
            f"rows = [{rows.number[first]}, {rows.number[last]}]"
            if falls.size <= MAX_RESTARTS
            else f"{100 * fraction:.2g} % of the rows come too late: sort the log by its time"
        )
        raise InputError(
            f"{rows.where}: t must rise, but falls at row {rows.number[k + 1]} from {t[k]:.10g} to "
            f"{t[k + 1]:.10g}; {advice}."
        )
    count = int(late.sum())
    rows = rows.kept(
        ~late, f"{_counted(count, 'row comes', 'rows come')} before an earlier time: left out."
    )
    again = np.concatenate([[False], np.diff(rows.signals["t"][:, 0]) == 0])
    if not again.any():
        return rows
    alike = np.concatenate(
        [[False], np.all(np.diff(np.hstack([*rows.signals.values()]), axis=0) == 0, axis=1)]
    )
    note = (
        f"{int(again.sum())} samples repeat the time of the one before ({int(alike.sum())} of "
        "them in every value): left out."
    )
    return rows.kept(~again, note)


def _counted(count: int, one: str, several: str) -> str:
    """A number and what it counts."""
    return f"{count} {one if count == 1 else several}"


def _longest(good: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last index of the longest run of True; (0, -1) where there is none."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
    starts, ends = edges[::2], edges[1::2]
    if not starts.size:
        return 0, -1
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest]) - 1
