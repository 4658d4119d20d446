"""Text tables: comma, semicolon, tab or blanks between the columns, with or without a header, also compressed (.gz)."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError

SEPARATORS = (";", "\t", ",")


def read_text(file: Path) -> dict[str, NDArray[np.float64]]:
    """The columns (N,) of a text file; without a header they are called "1", "2", ..."""
    with _open(file) as lines:
        first = next(_lines(lines), None)
        if first is None:
            raise InputError(f"{file.name}: the file is empty.")
        separator = next((mark for mark in SEPARATORS if mark in first), None)
        head = [cell.strip() for cell in (next(csv.reader([first], delimiter=separator)) if separator else first.split())]
        headed = not all(map(_is_number, head))
        rows = _lines(lines)
        begin = next(rows, None) if headed else first
        if begin is None:
            raise InputError(f"{file.name}: there is no row of numbers.")
        try:
            values = np.loadtxt(chain([begin], rows), delimiter=separator, ndmin=2, comments="#", quotechar='"')
        except ValueError as problem:
            hint = " (a decimal comma? write 1.5, not 1,5)" if separator == ";" else ""
            raise InputError(f"{file.name}: not a table of numbers: {str(problem).split(';')[0].rstrip('.')}{hint}.") from None
    names = head if headed else [str(k + 1) for k in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise InputError(f"{file.name}: the header names {len(names)} columns, the rows have {values.shape[1]}.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{file.name}: two columns are called {twice[0]!r}; give each its own name.")
    return dict(zip(names, np.ascontiguousarray(values.T), strict=True))


def _open(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig")
    return file.open(encoding="utf-8-sig")


def _lines(lines: IO[str]) -> Iterator[str]:
    """Lines that are neither empty nor comments; a header may be marked as a comment."""
    for k, line in enumerate(lines):
        text = line.strip()
        if text.startswith(("#", "%")):
            text = text.lstrip("#% ").strip() if k == 0 else ""
        if text:
            yield text


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
