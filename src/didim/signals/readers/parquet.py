"""Parquet files, through pyarrow (extra `files`): numbers, time stamps in seconds, lists of equal length as matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError


def read_parquet(file: Path) -> dict[str, NDArray[np.float64]]:
    """The columns (N,) or (N, k) of a Parquet file; empty cells are nan."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(f'{file.name}: Parquet files need pyarrow: pip install "didim[files]".') from None
    try:
        with file.open("rb") as opened:
            content = parquet.read_table(opened)
    except (pyarrow.ArrowException, OSError) as problem:
        raise InputError(f"{file.name}: is not a Parquet file: {str(problem).splitlines()[0]}.") from None
    table = {
        str(name): values
        for name, column in zip(content.column_names, content.columns, strict=True)
        if (values := _numbers(column, pyarrow)) is not None
    }
    if not table:
        raise InputError(f"{file.name}: there is no column of numbers in it.")
    return table


def _numbers(column: Any, pyarrow: Any) -> NDArray[np.float64] | None:
    """A column as an array, or None where it holds no numbers."""
    kinds, kind = pyarrow.types, column.type
    if kinds.is_timestamp(kind):
        stamps = column.cast(pyarrow.timestamp("ns")).to_numpy()
        seconds = stamps.astype("datetime64[ns]").astype(np.int64)
        return np.where(np.isnat(stamps), np.nan, seconds / 1e9)
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        flat = _numbers(column.combine_chunks().flatten(), pyarrow)
        count = len(column)
        lengths = pyarrow.compute.list_value_length(column).to_numpy()
        if flat is None or flat.ndim != 1 or count == 0 or not np.all(lengths == flat.size // count):
            return None
        return flat.reshape(count, -1)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        plain = column.cast(pyarrow.float64(), safe=False)
        return np.asarray(
            plain.to_numpy(zero_copy_only=False) if hasattr(plain, "offset") else plain.to_numpy(), dtype=np.float64
        )
    return None
