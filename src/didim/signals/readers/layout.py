"""Where the rows of a text table begin, how they are written, and what its header says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from didim.errors import InputError, shortened
from didim.signals.readers.cells import NOTATIONS, Notation
from didim.signals.units import is_unit

REMARKS = ("#", "%")

MIN_ROWS_WITH_WORDS = 3
"""Rows from which on a column may be one of words."""

MIN_NUMBERED = 3
"""Columns from which on a first line 0, 1, 2, ... is a header."""

Line = tuple[int, str]
"""Its number in the file, 1 is the first, and its text."""


@dataclass(frozen=True)
class Layout:
    """What the first lines of a file say about all of them."""

    notation: Notation
    width: int
    """Columns."""
    trailing: bool
    """Whether each row ends with one separator too many."""
    begin: int
    """Number of the line with which the rows begin."""
    names: list[str] | None
    units: list[str] | None
    notes: tuple[str, ...]
    texts: frozenset[int] = frozenset()
    """Columns, 0 is the first, that hold words; they are read as nan."""

    def cells(self, line: str) -> list[str]:
        """The cells of a row."""
        found = self.notation.cells(line)
        if self.trailing and found and not found[-1]:
            found = found[:-1]
        if not self.texts:
            return found
        return ["" if k in self.texts else cell for k, cell in enumerate(found)]


def layout_of(head: Sequence[Line], where: str) -> Layout:
    """The layout of a file that begins with the lines `head`, none of them empty."""
    plain = [
        (number, text.partition("#")[0].rstrip())
        for number, text in head
        if not text.startswith(REMARKS)
    ]
    if not plain:
        raise InputError(f"{where}: the file is empty.")
    notation, rows = _notation(plain)
    texts: frozenset[int] = frozenset()
    if not rows:
        notation, rows = _notation(plain, words=True)
        texts = _texts(rows, notation)
    if not rows or (texts and len(rows) < MIN_ROWS_WITH_WORDS):
        alone = len(plain) == 1 or len(plain) == len(head) == 1
        raise InputError(
            f"{where}: there is no row of numbers"
            + ("." if alone else f"; line {plain[-1][0]} is {shortened(plain[-1][1], 60)}.")
        )
    cells = [notation.cells(text) for _, text in rows]
    width = len(cells[0])
    trailing = width > 1 and notation.separator is not None and not any(row[-1] for row in cells)
    width -= trailing
    begin = rows[0][0]
    before = [line for line in head if line[0] < begin]
    names, units = _header(before, notation, width, where)
    notes = [] if notation.decimal == "." else ["The numbers are written with a decimal comma."]
    if names is None and len(rows) > 1 and _counts(cells[0], width, cells[1:]):
        begin = rows[1][0]
        notes.append("The first line only numbers the columns: it was not taken for a sample.")
    if texts:
        columns = ", ".join(names[k] if names else str(k + 1) for k in sorted(texts))
        notes.append(f"Columns of words were not read: {columns}.")
    return Layout(notation, width, trailing, begin, names, units, tuple(notes), texts)


def _notation(plain: Sequence[Line], words: bool = False) -> tuple[Notation, list[Line]]:
    """The notation that sees most numbers, in rows of one width, and the lines of these rows; with
    `words` some columns may hold words.
    """
    best: tuple[Notation, list[Line]] = NOTATIONS[0], []
    most = 0
    for notation in NOTATIONS:
        widths = {
            line: len(cells)
            for line in plain
            if (cells := notation.cells(line[1])) and _is_row(cells, notation, words)
        }
        if not widths:
            continue
        width = Counter(widths.values()).most_common(1)[0][0]
        rows = [line for line, found in widths.items() if found == width]
        if len(rows) * width > most:
            best, most = (notation, rows), len(rows) * width
            rest = [notation.cells(text) for _, text in plain[: -len(rows)]]
            if plain[-len(rows) :] == rows and width > 1 and not _has_numbers(rest, notation):
                break
    return best


def _is_row(cells: Sequence[str], notation: Notation, words: bool) -> bool:
    """Whether there are numbers and no words, or, with `words`, mostly numbers."""
    numbers = notation.numbers(cells)
    count = sum(number is not None and number == number for number in numbers)
    return count >= max(2, len(cells) / 2) if words else count > 0 and None not in numbers


def _texts(rows: Sequence[Line], notation: Notation) -> frozenset[int]:
    """The columns that hold words in every row."""
    numbers = [notation.numbers(notation.cells(text)) for _, text in rows]
    return frozenset(
        k for k, column in enumerate(zip(*numbers, strict=True)) if {*column} == {None}
    )


def _has_numbers(rows: Sequence[Sequence[str]], notation: Notation) -> bool:
    """Whether some cell is a number."""
    found = (number for cells in rows for number in notation.numbers(cells))
    return any(number is not None and number == number for number in found)


def _header(
    before: Sequence[Line], notation: Notation, width: int, where: str
) -> tuple[list[str] | None, list[str] | None]:
    """Names and units of the columns, from the lines before the rows."""
    units: list[str] | None = None
    for at, (_, text) in enumerate(reversed(before)):
        remark = text.startswith(REMARKS)
        cells = _named(text.lstrip("#% ") if remark else text, notation, width)
        if cells is None:
            if not remark and at == 0 and len(notation.cells(text)) > 1:
                raise InputError(
                    f"{where}: the header names {len(notation.cells(text))} columns, the rows have "
                    f"{width}."
                )
            continue
        if remark and any(notation.number(cell) is not None for cell in cells):
            continue
        if units is None and all(is_unit(cell) for cell in cells) and at + 1 < len(before):
            units = cells
            continue
        return cells, units
    return (units, None) if units is not None else (None, None)


def _named(text: str, notation: Notation, width: int) -> list[str] | None:
    """The cells of a header, which may be separated otherwise than the rows; None where their
    number is another.
    """
    own = notation.separator
    others = [mark for mark in (",", ";", "\t") if mark in text]
    for separator in (*others, None) if own is None else (own, *others, None):
        cells = Notation(separator).cells(text)
        while len(cells) > width and not cells[-1]:
            cells = cells[:-1]
        if len(cells) == width:
            return cells
    return None


def _counts(first: Sequence[str], width: int, others: Sequence[Sequence[str]]) -> bool:
    """Whether a first row 0, 1, 2, ... (pandas) or 1, 2, 3, ... numbers the columns of rows that
    are no whole numbers.
    """
    cells = [*first[1:]] if not first[0] else [*first]
    counted = [str(k) for k in range(width + 1)]
    whole = all(cell.lstrip("+-").isdigit() for row in others for cell in row if cell)
    return (
        len(cells) >= MIN_NUMBERED
        and cells in (counted[: len(cells)], counted[1 : len(cells) + 1])
        and not whole
    )
