"""Dates in the names of files, with or without a time of day: 2026-03-01, 20260301T123000Z.

A time of day follows T, _, - or a space and is written 12:30[:00], 12-30[-00] or 1230[00]. It is
UTC where there is no zone (Z, +02:00, +0200). A minus begins a zone only after seconds or a colon:
elsewhere it may begin the next part of the name.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

LAST_YEAR = 9000
"""Pictures of times need some years beyond."""

_HOUR, _MINUTE, _SECOND = r"(?:[01]\d|2[0-3])", r"[0-5]\d", r"[0-5]\d(?:\.\d{1,9})?"

_QUARTER = r":?(?:00|15|30|45)"

_ZONE = rf"(?:Z(?![0-9A-Za-z])|\+(?:0\d|1[0-4]){_QUARTER})?"

_ANY_ZONE = rf"(?:-(?:0[1-9]|1[0-2]){_QUARTER}|{_ZONE})"

_CLOCK = (
    rf"(?:{_HOUR}:{_MINUTE}(?::{_SECOND})?{_ANY_ZONE}"
    rf"|{_HOUR}-{_MINUTE}(?:-{_SECOND}{_ANY_ZONE}|{_ZONE})"
    rf"|{_HOUR}{_MINUTE}(?:{_SECOND}{_ANY_ZONE}|{_ZONE}))"
)

_DASHED = r"\d{4}-\d{2}-\d{2}"

_COMPACT = r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"

_FORMS = tuple(rf"(?<!\d){each}(?:[T_ -]{_CLOCK})?(?!\d)" for each in (_DASHED, _COMPACT))

DATE = "(?:{}|{})".format(*_FORMS)
"""A regular expression of a date, for ASCII."""

_SEARCHED = tuple(re.compile(rf"[-_. ]?({each})", re.ASCII) for each in _FORMS)

_PARTS = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:\D(\d\d)\D?(\d\d)(?:\D?(\d\d(?:\.\d+)?))?(?:Z|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)


def date_in(name: str) -> tuple[str, str] | None:
    """The date in a name, and the name without it and the separator before it; None: it has no
    date. One with dashes goes before one without, which may be another number.
    """
    for each in _SEARCHED:
        found = each.search(name)
        if found is not None:
            return found[1], name[: found.start()] + name[found.end() :]
    return None


def days_of(text: str) -> float | None:
    """Days since 1970 of a date as above; None: it is none, such as the 30th of February."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, sign, hours, minutes = found.groups(default="0")
    east = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    clock = timedelta(hours=int(hour), minutes=int(minute), seconds=float(second))
    if int(year) > LAST_YEAR:
        return None
    try:
        moment = datetime(int(year), int(month), int(day), tzinfo=UTC) + clock - east
    except (ValueError, OverflowError):
        return None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)
