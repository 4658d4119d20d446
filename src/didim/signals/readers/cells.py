"""Cells of text tables as numbers: decimal points or commas, thousands, times of day, and the words
that people write where there is no value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

NO_VALUE = ("", "nan", "null", "na", "n/a", "#n/a", "none", "-", "--", "?")
"""Cells, in small letters, that stand for a value which is not there."""

_GROUPED = {mark: re.compile(rf"[+-]?\d{{1,3}}({re.escape(mark)}\d{{3}})+") for mark in ",.'"}


_COMMA = str.maketrans({",": ".", ".": "x"})
"""A point is no decimal point where the comma is one."""


@dataclass(frozen=True)
class Notation:
    """How a file writes its rows."""

    separator: str | None = ","
    """Between cells; None: blanks and tabs."""
    decimal: str = "."
    thousands: str = ""
    """Between groups of three digits; empty: nothing."""

    def cells(self, line: str) -> list[str]:
        """The cells of a line."""
        if self.separator is None:
            return line.split()
        if '"' not in line:
            return [cell.strip() for cell in line.split(self.separator)]
        found = next(csv.reader([line], delimiter=self.separator, skipinitialspace=True), [])
        return [cell.strip() for cell in found]

    def numbers(self, cells: Sequence[str]) -> list[float | None]:
        """Cells as numbers, each as `number` says."""
        if self.decimal == "." and not self.thousands:
            try:
                return [*map(float, cells)]
            except ValueError:  # one of them is something else
                pass
        return [*map(self.number, cells)]

    def number(self, cell: str) -> float | None:
        """A cell as a number: nan where it says that there is none, None where it is a text. Dates
        and times of day are seconds.
        """
        text = cell.strip("\"' ")
        if self.thousands:
            whole = text.partition(self.decimal)[0]
            if _GROUPED[self.thousands].fullmatch(whole):
                text = whole.replace(self.thousands, "") + text[len(whole) :]
        if self.decimal != ".":
            text = text.translate(_COMMA)
        try:
            return float(text)
        except ValueError:
            return float("nan") if text.lower() in NO_VALUE else _seconds(text)


NOTATIONS = (
    *(Notation(separator) for separator in (";", "\t", ",", None, "|")),
    *(Notation(separator, decimal=",") for separator in (";", "\t", None, "|", ",")),
    *(Notation(separator, thousands=",") for separator in (";", "\t", None, "|", ",")),
    *(Notation(separator, ",", ".") for separator in (";", "\t", None, "|", ",")),
    *(Notation(separator, thousands="'") for separator in (";", "\t", ",", None)),
)
"""Those that are tried; of two that fit equally well the first is taken."""


def _seconds(text: str) -> float | None:
    """A date with time as seconds since 1970, a time of day as seconds since midnight."""
    if ":" not in text and text.count("-") != 2:
        return None
    try:
        if "-" not in text:
            of_day = time.fromisoformat(text)
            return (
                (of_day.hour * 60 + of_day.minute) * 60
                + of_day.second
                + 1e-6 * (of_day.microsecond)
            )
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
