"""Reading files within limits: no device, no pipe, nothing that does not fit into memory."""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from didim.errors import InputError, shortened

MAX_DESCRIPTION = 50_000_000
"""Bytes of a study, a robot or a saved result, at most."""

MAX_NUMBERS = 100_000_000
"""Numbers of a record, at most: 800 MB, or an hour of 28 signals at 1 kHz."""

MAX_COLUMNS = 10_000
"""Columns or arrays of a record, at most."""

MAX_TEXT, MAX_EXPANSION = 1_000_000_000, 200
"""Bytes of a text, at most, and how many times a large one may be longer than its .gz file."""

_BYTES_PER_NUMBER, _BLOCK = 8, 1 << 20


def read_bytes(path: Path, most: int = MAX_DESCRIPTION) -> bytes:
    """The content of a regular file of at most `most` bytes."""
    if path.exists() and not path.is_file():
        raise InputError(
            f"{shortened(str(path))}: is not a regular file, but a folder, a device or a pipe."
        )
    with path.open("rb") as opened:
        content = opened.read(most + 1)
    if len(content) > most:
        raise InputError(
            f"{shortened(str(path))}: is larger than {most // 1_000_000} MB, which no file of its "
            "kind is; is it the right one?"
        )
    return content


def refuse_too_many(numbers: float, where: str) -> None:
    """Refuse a record that holds more numbers than memory should."""
    if numbers > MAX_NUMBERS:
        raise InputError(
            f"{where}: holds {numbers:.3g} numbers, and {MAX_NUMBERS:.0e} is the limit; write a "
            "part of the record, or fewer columns, to a file of its own."
        )


def refuse_too_many_columns(columns: int, where: str) -> None:
    """Refuse a record with more columns than anybody can choose from."""
    if columns > MAX_COLUMNS:
        raise InputError(
            f"{where}: has {columns} columns, and {MAX_COLUMNS} is the limit; write those of the "
            "joints to a file of their own."
        )


def check_text(file: Path) -> None:
    """Refuse a text, compressed (.gz) or not, that is too long to be a record."""
    size, most = file.stat().st_size, MAX_TEXT
    if file.suffix.lower() == ".gz":
        most = min(MAX_TEXT, max(MAX_TEXT // 20, MAX_EXPANSION * size))
        size = _unpacked_size(file, most)
    if size > most:
        raise InputError(
            f"{file.name}: is a text of more than {most // 1_000_000} MB; write a part of the "
            "record, or fewer columns, to a file of its own, or save it as .npz or .parquet."
        )


def _unpacked_size(file: Path, most: int) -> int:
    """Bytes of a compressed text; not counted far beyond `most`."""
    size = 0
    with gzip.open(file, "rb") as opened:
        while size <= most and (block := opened.read(_BLOCK)):
            size += len(block)
    return size


def check_npz(opened: IO[bytes], where: str) -> None:
    """Refuse an NPZ file whose arrays would not fit, before any of them is unpacked."""
    if not zipfile.is_zipfile(opened):
        raise InputError(f"{where}: is not an NPZ file.")
    opened.seek(0)
    with zipfile.ZipFile(opened) as archive:
        members = archive.infolist()
        refuse_too_many_columns(len(members), where)
        unpacked = 0
        for member in members:
            with archive.open(member) as content:
                unpacked += _size(content, member.file_size)
    refuse_too_many(unpacked / _BYTES_PER_NUMBER, where)
    opened.seek(0)


def _size(content: IO[bytes], claimed: int) -> int:
    """Bytes that NumPy reserves for a member: those of the array that its header describes, or all
    of what is no array.
    """
    try:
        version = np.lib.format.read_magic(content)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(content)
    except ValueError:
        return claimed
    return math.prod(shape) * dtype.itemsize
