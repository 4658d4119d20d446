"""Text tables: comma, semicolon, tab or blanks between the columns, with or without a header, also
compressed (.gz).
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import check_text, refuse_too_many, refuse_too_many_columns

MAX_LINE = 1_000_000
"""Letters of a line."""

SEPARATORS = (";", "\t", ",")
_REMARKS = ("#", "%")


def read_text(file: Path) -> dict[str, NDArray[np.float64]]:
    """The columns (N,) of a text file; without a header they are called "1", "2", ..."""
    check_text(file)
    with _open(file) as lines:
        rows, remark = _lines(lines, file.name), ""
        for first in rows:
            if not first.startswith(_REMARKS):
                break
            remark = first.lstrip("#% ")  # the last one before the numbers may be the header
        else:
            raise InputError(f"{file.name}: the file is empty.")
        separator = next((mark for mark in SEPARATORS if mark in first), None)
        head = _cells(first, separator)
        refuse_too_many_columns(len(head), file.name)
        headed = not all(map(_is_number, head))
        data = (row for row in rows if not row.startswith(_REMARKS))
        begin = next(data, None) if headed else first
        if begin is None:
            raise InputError(f"{file.name}: there is no row of numbers.")
        named = _cells(remark, separator)
        if not headed and len(named) == len(head) and not any(map(_is_number, named)):
            head, headed = named, True
        try:
            table = _counted(chain([begin], data), len(head), file.name)
            values = np.loadtxt(table, delimiter=separator, ndmin=2, comments="#", quotechar='"')
        except InputError:
            raise
        except ValueError as problem:
            hint = " (a decimal comma? write 1.5, not 1,5)" if separator == ";" else ""
            raise InputError(
                f"{file.name}: not a table of numbers: "
                f"{str(problem).split(';')[0].rstrip('.')}{hint}."
            ) from None
    names = head if headed else [str(k + 1) for k in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise InputError(
            f"{file.name}: the header names {len(names)} columns, the rows have {values.shape[1]}."
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InputError(
            f"{file.name}: two columns are called {twice[0]!r}; give each its own name."
        )
    return dict(zip(names, np.ascontiguousarray(values.T), strict=True))


def _open(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig")
    return file.open(encoding="utf-8-sig")


def _counted(rows: Iterable[str], columns: int, where: str) -> Iterator[str]:
    """The rows, as long as memory holds their numbers."""
    for k, row in enumerate(rows):
        refuse_too_many(columns * k, where)
        yield row


def _lines(lines: IO[str], where: str) -> Iterator[str]:
    """Lines that are not empty; a leading tab stands for an empty cell and is kept."""
    for line in iter(lambda: lines.readline(MAX_LINE + 1), ""):
        if len(line) > MAX_LINE:
            raise InputError(
                f"{where}: a line has more than {MAX_LINE} letters; is this a table of numbers?"
            )
        text = line.strip("\r\n ")
        if text.strip():
            yield text


def _cells(line: str, separator: str | None) -> list[str]:
    """The cells of a line."""
    return [
        cell.strip()
        for cell in (
            next(csv.reader([line], delimiter=separator), []) if separator else line.split()
        )
    ]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
