"""Text tables: comma, semicolon, tab or blanks between the columns, with or without a header, with
a decimal point or comma, also compressed (.gz).
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BufferedReader, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from didim.errors import InputError, shortened
from didim.reading import check_text, refuse_too_many, refuse_too_many_columns
from didim.signals.readers.cells import NO_VALUE
from didim.signals.readers.layout import REMARKS, Layout, Line, layout_of
from didim.signals.readers.table import Array, Table

HEAD_LINES, HEAD_CHARACTERS = 100, 200_000
"""From which the layout of a file is seen; three lines at least."""

MAX_LINE_LENGTH = 1_000_000
"""Characters."""

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


def read_text(file: Path) -> Table:
    """The columns (N,) of a text file; without a header they are called "1", "2", ..."""
    check_text(file)
    layout = layout_of(_head(file), file.name)
    refuse_too_many_columns(layout.width, file.name)
    try:
        values = _read_sound(file, layout)
        damaged: dict[int, str] = {}
        texts: list[Line] = []
    except ValueError:
        values, damaged, texts = _read_each(file, layout)
    if len(texts) > len(values):
        raise InputError(
            f"{file.name}: not a table of numbers: line {texts[0][0]} is "
            f"{shortened(texts[0][1], 60)}."
        )
    notes = [*layout.notes]
    if texts:
        lines = f"{len(texts)} line{'s'[: len(texts) > 1]} of text among the rows"
        notes.append(f"{lines} left out (line {texts[0][0]}: {shortened(texts[0][1], 40)}).")
    names = [str(k + 1) for k in range(layout.width)]
    if layout.names is not None:
        names = [name or number for name, number in zip(layout.names, names, strict=True)]
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise InputError(
            f"{file.name}: two columns are called {twice[0]!r}; give each its own name."
        )
    return Table(
        dict(zip(names, np.ascontiguousarray(values.T), strict=True)),
        headed=layout.names is not None,
        notes=notes,
        units=dict(zip(names, layout.units, strict=True)) if layout.units else None,
        damaged=damaged,
    )


def _head(file: Path) -> list[Line]:
    """The first lines."""
    head: list[Line] = []
    characters = 0
    with _open(file) as lines:
        for line in _lines(lines, file):
            head.append(line)
            characters += len(line[1])
            if len(head) >= HEAD_LINES or (len(head) >= 3 and characters > HEAD_CHARACTERS):
                break
    return head


def _read_sound(file: Path, layout: Layout) -> Array:
    """The values (N, width) of a file without any fault; a ValueError where there is one."""
    notation = layout.notation
    if notation.thousands or notation.separator == notation.decimal or layout.texts:
        raise ValueError("the rows need another notation")
    changed = str.maketrans({notation.decimal: "."}) if notation.decimal != "." else None
    with _open(file) as lines:
        rows = (
            text.rstrip(notation.separator) if layout.trailing else text
            for number, text in _lines(lines, file)
            if number >= layout.begin and not text.startswith(REMARKS)
        )
        plain = (row.translate(changed) for row in rows) if changed else rows
        first = next(plain, "")
        values = np.loadtxt(
            _counted(chain([first], plain), layout.width, file.name),
            delimiter=notation.separator,
            ndmin=2,
            comments="#",
            quotechar='"',
        )
    if values.shape[1] != layout.width:
        raise ValueError("other columns")
    return np.asarray(values, dtype=np.float64)


def _counted(rows: Iterable[str], columns: int, where: str) -> Iterator[str]:
    """The rows, as long as memory holds their numbers."""
    for k, row in enumerate(rows):
        refuse_too_many(columns * k, where)
        yield row


def _read_each(file: Path, layout: Layout) -> tuple[Array, dict[int, str], list[Line]]:
    """The values (N, width) of a file with faults, line by line: damaged rows (all nan), what they
    were, and the lines of text.
    """
    nothing = [float("nan")] * layout.width
    rows: list[list[float]] = []
    damaged: dict[int, str] = {}
    texts: list[Line] = []
    with _open(file) as lines:
        for number, text in _lines(lines, file):
            if number < layout.begin or text.startswith(REMARKS):
                continue
            cells = layout.cells(text.partition("#")[0])
            values = layout.notation.numbers(cells)
            numbers = [each for each in values if each is not None]
            refuse_too_many(layout.width * len(rows), file.name)
            if len(cells) == layout.width and len(numbers) == len(values):
                rows.append(numbers)
            elif all(each != each for each in numbers) and not _is_cut(cells, values):
                texts.append((number, text))
            else:
                damaged[len(rows)] = f"line {number}, {shortened(text, 60)}"
                rows.append(nothing)
    return np.array(rows).reshape(len(rows), layout.width), damaged, texts


def _is_cut(cells: list[str], values: list[float | None]) -> bool:
    """Whether a line without a number is a row without values, or what is left of one."""
    return all(
        value is not None and cell.lower() in NO_VALUE
        for cell, value in zip(cells, values, strict=True)
    )


def _open(file: Path) -> IO[str]:
    with _binary(file) as start:
        encoding = _encoding(start.read(4096), file)
    return TextIOWrapper(_binary(file), encoding=encoding, errors="replace")


def _binary(file: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.GzipFile(file) if file.suffix.lower() == ".gz" else file.open("rb")


def _encoding(start: bytes, file: Path) -> str:
    """By the mark with which a file begins, else by its bytes."""
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if b"\0" in start:
        for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            if not start[offset::2].strip(b"\0") and start[1 - offset :: 2].count(0) == 0:
                return encoding
        raise InputError(f"{file.name}: holds binary data or zeros, not text.")
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as problem:
        return "utf-8" if problem.start > len(start) - 4 else "cp1252"
    return "utf-8"


def _lines(lines: IO[str], file: Path) -> Iterator[Line]:
    """Lines that are not empty, with their numbers; a leading tab stands for an empty cell and is
    kept.
    """
    number = 0
    while line := lines.readline(MAX_LINE_LENGTH):
        number += 1
        if len(line) == MAX_LINE_LENGTH and not line.endswith("\n"):
            raise InputError(
                f"{file.name}: line {number} has more than {MAX_LINE_LENGTH} characters: not a "
                "table of text, or a file with a hole."
            )
        text = line.strip("\r\n ")
        if text.strip():
            yield number, text
