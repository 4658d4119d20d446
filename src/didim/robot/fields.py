"""Strict reading of a TOML table: every value is checked for type, every key must be known, every
error names the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest, shortened

_REQUIRED: Any = object()
_PI = re.compile(r"\s*([+-]?)\s*(?:(\d+(?:\.\d*)?)\s*\*?\s*)?pi\s*(?:/\s*(\d+(?:\.\d*)?))?\s*")
_DEGREES = re.compile(r"\s*([+-]?\d+(?:\.\d*)?)\s*deg\s*")


def radians_of(value: object) -> object:
    """The number that a text such as "pi/2" or "90 deg" stands for; anything else as it is."""
    number = value
    if isinstance(value, str):
        if (match := _PI.fullmatch(value)) and float(match[3] or 1) != 0:
            number = (
                (-1.0 if match[1] == "-" else 1.0)
                * float(match[2] or 1)
                * math.pi
                / float(match[3] or 1)
            )
        elif match := _DEGREES.fullmatch(value):
            number = math.radians(float(match[1]))
    return value if isinstance(number, float) and not math.isfinite(number) else number


class Fields:
    """One table of a file. Keys are read one by one; `finish` refuses those that were not read."""

    def __init__(self, table: object, where: str) -> None:
        if not isinstance(table, Mapping):
            raise InputError(f"{where}: expected a table, found {shortened(table)}.")
        self.where = where
        self._table = table
        self._taken: set[str] = set()

    def _take(self, key: str, default: Any) -> Any:
        self._taken.add(key)
        if key in self._table:
            return self._table[key]
        if default is _REQUIRED:
            raise InputError(f"{self.where}: the key {key!r} is missing.")
        return default

    def has(self, key: str) -> bool:
        """Whether the file gives the key."""
        return key in self._table

    def text(self, key: str, default: Any = _REQUIRED) -> str:
        """A text that is not empty."""
        value = self._take(key, default)
        if value is not default and (not isinstance(value, str) or not value.strip()):
            raise self._wrong(key, "a text", value)
        return str(value)

    def number(self, key: str, default: Any = _REQUIRED) -> float:
        """A finite number."""
        value = self._take(key, default)
        return float(value) if value is default else self._finite(key, value, "a finite number")

    def switch(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def angle(self, key: str, default: Any = _REQUIRED) -> float:
        """An angle in radians: a number, or a text such as "pi/2", "-3*pi/4", "90 deg"."""
        value = self._take(key, default)
        return float(value) if value is default else self._angle(key, value)

    def limits(self, key: str, angles: bool) -> tuple[float, float]:
        """A lower and an upper limit, either of which may be infinite; both are where the file
        gives none.
        """
        value = self._take(key, [-math.inf, math.inf])
        if not isinstance(value, list) or len(value) != 2:
            raise self._wrong(key, "a list of 2 numbers", value)
        read = (
            self._angle if angles else lambda k, item: self._finite(k, item, "a list of 2 numbers")
        )
        lower, upper = (
            side if item == side else read(key, item)
            for side, item in zip((-math.inf, math.inf), value, strict=True)
        )
        return lower, upper

    def numbers(self, key: str, count: int, default: Any = _REQUIRED) -> NDArray[np.float64]:
        """A list of `count` finite numbers, as an array."""
        value = self._take(key, default)
        expected = f"a list of {count} finite numbers"
        if value is default:
            return np.asarray(value, dtype=float)
        if not isinstance(value, list) or len(value) != count:
            raise self._wrong(key, expected, value)
        return np.array([self._finite(key, item, expected) for item in value])

    def rows(self, key: str, count: int, width: int) -> NDArray[np.float64]:
        """A list of `count` rows of `width` finite numbers, as an array."""
        value, expected = self._take(key, _REQUIRED), f"{count} rows of {width} finite numbers"
        if not isinstance(value, list) or len(value) != count:
            raise self._wrong(key, expected, value)
        for row in value:
            if not isinstance(row, list) or len(row) != width:
                raise self._wrong(key, expected, value)
        return np.array([[self._finite(key, item, expected) for item in row] for row in value])

    def texts(self, key: str, default: Any = _REQUIRED) -> list[str]:
        """A list of texts, possibly empty."""
        value = self._take(key, default)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(key, "a list of texts", value)
        return value

    def table(self, key: str) -> Fields | None:
        """A table below this one, or None."""
        value = self._take(key, None)
        return None if value is None else Fields(value, f"{self.where}, {key}")

    def tables(self, key: str) -> list[Fields]:
        """A list of tables ([[key]] in the file), possibly empty."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, f"tables written [[{key}]]", value)
        return [
            Fields(item, f"{self.where}, {key} {index + 1}") for index, item in enumerate(value)
        ]

    def list(self, key: str) -> object:
        """What the file gives for a key that is read elsewhere; an empty list where it gives
        nothing.
        """
        return self._take(key, [])

    def values(self, known: Iterable[str], beside: Iterable[str] = ()) -> dict[str, float]:
        """Every key of this table as a finite number; the keys must be among the known ones, or be
        read by other means.
        """
        known = tuple(known)
        values = {key: self.number(key) for key in known if self.has(key)}
        self._taken.update(known, beside)
        self.finish()
        return values

    def finish(self) -> None:
        """Refuse the keys that were not read."""
        for key in self._table:
            if key not in self._taken:
                raise InputError(f"{self.where}: unknown key {key!r}; {nearest(key, self._taken)}")

    def _angle(self, key: str, value: object) -> float:
        return self._finite(
            key, radians_of(value), 'an angle in radians or a text such as "pi/2" or "90 deg"'
        )

    def _finite(self, key: str, value: object, expected: str) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not -1e300 < value < 1e300
        ):
            raise self._wrong(key, expected, value)
        return float(value)

    def _wrong(self, key: str, expected: str, found: object) -> InputError:
        return InputError(f"{self.where}: {key} must be {expected}, found {shortened(found)}.")
