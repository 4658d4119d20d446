"""Parquet files, through pyarrow (extra `files`): numbers, time stamps in seconds, lists of equal
length as matrices.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import refuse_too_many

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def read_parquet(file: Path) -> dict[str, NDArray[np.float64]]:
    """The columns (N,) or (N, k) of a Parquet file; empty cells are nan."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            f'{file.name}: Parquet files need pyarrow: pip install "didim[files]".'
        ) from None
    try:
        with file.open("rb") as opened:
            described = parquet.ParquetFile(opened)
            refuse_too_many(
                float(described.metadata.num_rows) * described.metadata.num_columns, file.name
            )
            content = described.read()
    except (pyarrow.ArrowException, OSError) as problem:
        raise InputError(
            f"{file.name}: is not a Parquet file: {str(problem).splitlines()[0]}."
        ) from None
    table = {
        str(name): values
        for name, column in zip(content.column_names, content.columns, strict=True)
        if (values := _numbers(column, pyarrow)) is not None
    }
    if not table:
        raise InputError(f"{file.name}: there is no column of numbers in it.")
    return table


def _numbers(column: Any, pyarrow: Any) -> NDArray[np.float64] | None:
    """A column as an array (N,), or (N, k) of lists; None where it holds no numbers."""
    kinds, kind = pyarrow.types, column.type
    whole = column.combine_chunks()
    whole = (
        pyarrow.concat_arrays(whole.chunks) if isinstance(whole, pyarrow.ChunkedArray) else whole
    )
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        if not _is_number(kind.value_type, kinds) or not len(whole) or whole.null_count:
            return None
        flat, count = _plain(whole.flatten(), pyarrow), len(whole)
        lengths = pyarrow.compute.list_value_length(whole).to_numpy(zero_copy_only=False)
        return flat.reshape(count, -1) if np.all(lengths == flat.size // count) else None
    if kinds.is_timestamp(kind):
        return _plain(whole.cast(pyarrow.int64()), pyarrow) * _SECONDS[kind.unit]
    return _plain(whole, pyarrow) if _is_number(kind, kinds) else None


def _is_number(kind: Any, kinds: Any) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _plain(values: Any, pyarrow: Any) -> NDArray[np.float64]:
    """An array of Arrow as one of NumPy; what is empty is nan."""
    return np.asarray(
        values.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64
    )
