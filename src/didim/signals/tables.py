"""Files as named columns: text, NPZ, MAT, Parquet, ROS bags and MCAP. Nothing in a file is
executed.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, nearest, shortened
from didim.reading import refuse_too_many_columns
from didim.signals.readers.arrays import read_mat, read_npz
from didim.signals.readers.bags import read_bag
from didim.signals.readers.parquet import read_parquet
from didim.signals.readers.table import Table
from didim.signals.readers.text import read_text

Array = NDArray[np.float64]

_TEXTS = (".csv", ".tsv", ".txt", ".dat", ".log")

_READERS: dict[str, Callable[[Path], dict[str, Array]]] = {
    **{f"{kind}{packed}": read_text for kind in _TEXTS for packed in ("", ".gz")},
    ".mat": read_mat,
    ".npz": read_npz,
    ".parquet": read_parquet,
    ".bag": read_bag,
    ".mcap": read_bag,
    ".db3": read_bag,
}
KINDS = tuple(_READERS)

MAX_NAME = 300
"""Letters of a column's name, at most."""


def read_table(path: str | PathLike[str]) -> Table:
    """The columns of a file, or of the folder of a ROS 2 bag; a text file without a header names
    them "1", "2", ...
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"A file must be given by its path, found {shortened(path)}.")
    file = Path(path)
    kind = ("".join(file.suffixes[-2:]) if file.suffix.lower() == ".gz" else file.suffix).lower()
    try:
        if (file / "metadata.yaml").is_file():
            return Table(read_bag(file))
        if not file.is_file():
            reason = (
                "is a folder"
                if file.is_dir()
                else ("is not a regular file" if file.exists() else "no such file")
            )
            raise InputError(f"{shortened(str(file))}: {reason}.")
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shortened(str(file))}: cannot be read: {problem}.") from None
    if kind not in _READERS:
        raise InputError(f"{file.name}: the ending {kind!r} is not known; {nearest(kind, KINDS)}")
    try:
        found = _READERS[kind](file)
        return _checked(found if isinstance(found, Table) else Table(found), file.name)
    except (InputError, MemoryError):
        raise
    except Exception as problem:  # a damaged file raises what its decoder raises
        message = next(iter(str(problem).splitlines()), "") or type(problem).__name__
        raise InputError(f"{file.name}: cannot be read: {message.rstrip('.')}.") from None


def _checked(table: Table, where: str) -> Table:
    """The table, refused where its names are too many or too long to be chosen from."""
    refuse_too_many_columns(len(table), where)
    for name in table:
        if len(name) > MAX_NAME:
            raise InputError(
                f"{where}: the name of a column has {len(name)} letters, and {MAX_NAME} is the "
                f"limit: {shortened(name)}."
            )
    return table
