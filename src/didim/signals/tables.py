"""Files as named columns: CSV (also .gz), MAT v5 and NPZ. Nothing in a file is executed."""

from __future__ import annotations

import csv
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest, shortened

Array = NDArray[np.float64]
Table = dict[str, Array]
"""Columns by name: (N,) from text files; (N,) or (N, n) from MAT and NPZ."""

KINDS = (".csv", ".csv.gz", ".txt", ".txt.gz", ".mat", ".npz")


def read_table(path: str | PathLike[str]) -> Table:
    """The columns of a file; a text file without a header names them "1", "2", ..."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"A file is named by its path, found {shortened(path)}.")
    file = Path(path)
    kind = "".join(file.suffixes[-2:]) if file.suffix == ".gz" else file.suffix
    try:
        if not file.is_file():
            raise InputError(f"{shortened(str(file))}: {'is a folder' if file.is_dir() else 'no such file'}.")
    except (OSError, ValueError) as problem:
        raise InputError(f"{shortened(str(file))}: cannot be read: {problem}.") from None
    if kind.lower() not in KINDS:
        raise InputError(f"{file.name}: the ending {kind!r} is not known; {nearest(kind.lower(), KINDS)}")
    try:
        if kind.lower() == ".mat":
            return _mat(file)
        if kind.lower() == ".npz":
            return _npz(file)
        return _text(file)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError) as problem:
        raise InputError(f"{file.name}: cannot be read: {str(problem).splitlines()[0]}.") from None


def _open(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig")
    return file.open(encoding="utf-8-sig")


def _text(file: Path) -> Table:
    with _open(file) as lines:
        first = next(_lines(lines), None)
        if first is None:
            raise InputError(f"{file.name}: the file is empty.")
        separator = next((mark for mark in (";", "\t", ",") if mark in first), None)
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


def _mat(file: Path) -> Table:
    from scipy import io

    try:
        content = io.loadmat(file, squeeze_me=False)
    except NotImplementedError:
        raise InputError(f"{file.name}: is a MAT file of version 7.3; save it with save(..., '-v7').") from None
    except (ValueError, TypeError, io.matlab.MatReadError) as problem:
        raise InputError(f"{file.name}: is not a MAT file: {str(problem).splitlines()[0]}.") from None
    return _numeric({name: value for name, value in content.items() if not name.startswith("__")}, file)


def _npz(file: Path) -> Table:
    try:
        content = np.load(file, allow_pickle=False)
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise InputError(f"{file.name}: is no NPZ file.")
        with content:
            return _numeric({name: content[name] for name in content.files}, file)
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{file.name}: holds objects that are no plain arrays, or is no NPZ file; nothing in it is executed."
        ) from None


def _numeric(content: dict[str, NDArray[np.generic]], file: Path) -> Table:
    """The numeric arrays of one or two dimensions; rows and columns of MATLAB become (N,)."""
    table = {
        name: np.asarray(value, dtype=np.float64).reshape(-1) if 1 in value.shape else np.asarray(value, dtype=np.float64)
        for name, value in content.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim in (1, 2) and value.size
    }
    if not table:
        raise InputError(f"{file.name}: there is no array of numbers in it.")
    return table
