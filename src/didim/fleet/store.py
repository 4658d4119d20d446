"""A folder of rows that can be continued: one Parquet file for each new row, all of them in one at
the end. Files are written under a temporary name and renamed, so that no half of one is ever read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from didim.errors import InputError, shortened
from didim.fleet.row import ARRAYS, Row, row_of
from didim.locks import locked
from didim.output import UnwritableError, write

TABLE, ROWS, _LOCK = "table.parquet", "rows", ".lock"

_ROW = re.compile(r"[0-9a-f]{40}\.parquet")
"""Names of the files of one row."""

_NUMBERS = ("residual", "held_out", "seconds")


@dataclass(frozen=True)
class RowStore:
    """The rows of a folder."""

    folder: Path

    def read(self) -> dict[str, Row]:
        """All rows of the folder by their keys."""
        found: dict[str, Row] = {}
        table = self.folder / TABLE
        if table.exists():
            found = {row.key: row for row in _read(table)}
        for file in self._single():
            with suppress(InputError):  # a row that the disk has lost is run again
                found |= {row.key: row for row in _read(file)}
        return found

    def add(self, row: Row) -> None:
        """Write one row."""
        self._write(self.folder / ROWS / _file_name(row.key), _parquet([row]))

    @property
    def is_finished(self) -> bool:
        """Whether all its rows are in one file."""
        return (self.folder / TABLE).exists() and not any(self._single())

    def finish(self, rows: Iterable[Row]) -> None:
        """Write all rows of the folder into one file, these first and in their order, and remove
        the single ones. Other calls may add to the folder meanwhile; a row of theirs replaces one
        whose worker was lost.
        """
        with locked(self.folder / ROWS / _LOCK):
            single = self._single()
            there = {row.key: row for row in rows}
            for key, row in self.read().items():
                if key not in there or not there[key].failure.is_lasting:
                    there[key] = row
            self._write(self.folder / TABLE, _parquet([*there.values()]))
            written = {_file_name(key) for key in there}
            for file in single:
                if file.name in written:
                    with suppress(OSError):
                        file.unlink(missing_ok=True)

    def add_page(self, row: Row, page: bytes) -> None:
        """Write the report of a row."""
        self._write(report_file(self.folder, row.key), page)

    def _single(self) -> list[Path]:
        """Files of one row."""
        return sorted(each for each in (self.folder / ROWS).glob("*.parquet") if _is_row(each))

    def _write(self, file: Path, content: bytes) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write({file: content}, overwrite=True)
        except (OSError, UnwritableError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise UnwritableError(
                f"{reason} The rows that are finished are in {self.folder}; make room there, and "
                "run the same again: it goes on with what is missing."
            ) from None


def _file_name(key: str) -> str:
    """Of a row."""
    return f"{key[:40]}.parquet"


def _is_row(file: Path) -> bool:
    return _ROW.fullmatch(file.name) is not None


def _is_store(folder: Path) -> bool:
    """Whether a folder has rows, or what a call left that was killed, and nothing of others."""
    if not (folder / ROWS).is_dir():
        return (folder / TABLE).exists()
    return all(_is_row(each) or each.name.startswith(".") for each in (folder / ROWS).iterdir())


def report_file(folder: Path, key: str) -> Path:
    """Where the report of a task is, in a folder of rows."""
    return folder / "reports" / f"{key[:40]}.html"


def opened(folder: str | PathLike[str]) -> RowStore:
    """The store of a folder, which is made where it is missing."""
    if not isinstance(folder, str | PathLike):
        raise InputError(f"folder must be a path, found {shortened(folder)}.")
    path = Path(folder)
    _parquet([])  # refuse before any work where pyarrow is missing
    try:
        if path.is_dir() and any(path.iterdir()) and not _is_store(path):
            raise InputError(f"{path}: holds other files; give a new or an empty folder.")
        (path / ROWS).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(
            f"{shortened(str(path))}: cannot be made a folder of rows: {reason}."
        ) from None
    return RowStore(path)


def _schema(arrow: Any) -> Any:
    def kind(name: str) -> Any:
        if name in ARRAYS:
            return arrow.list_(arrow.float64())
        if name in ("names", "gain_names"):
            return arrow.list_(arrow.string())
        if name in _NUMBERS:
            return arrow.float64()
        return arrow.int64() if name == "seed" else arrow.string()

    return arrow.schema([(each.name, kind(each.name)) for each in fields(Row)])


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError('a folder of rows needs pyarrow: pip install "didim[files]".') from None
    return pyarrow, pyarrow.parquet


def _parquet(rows: Sequence[Row]) -> bytes:
    arrow, parquet = _arrow()
    table = arrow.Table.from_pylist([row.plain() for row in rows], schema=_schema(arrow))
    content = io.BytesIO()
    parquet.write_table(table, content, write_page_checksum=True)
    return content.getvalue()


def _read(file: Path) -> list[Row]:
    arrow, parquet = _arrow()
    try:
        content = io.BytesIO(file.read_bytes())
        table = parquet.ParquetFile(content, page_checksum_verification=True).read()
        if missing := {each.name for each in fields(Row)} - {*table.column_names}:
            raise KeyError(*missing)
        return [row_of(each) for each in table.to_pylist()]
    except (OSError, TypeError, ValueError, KeyError, arrow.ArrowException) as problem:
        reason = str(problem).splitlines()[0]
        raise InputError(
            f"{file}: is not a table of didim ({reason}); remove it, or give another folder."
        ) from None
