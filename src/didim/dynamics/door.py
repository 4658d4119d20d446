"""Where arrays come in: converted to what the kernels read, refused with a clear message where they do not fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError

Array = NDArray[np.float64]


def samples(value: ArrayLike, name: str, width: int, rows: int | None = None) -> Array:
    """`value` as a finite, C-contiguous (N, width) array; (N,) is taken for (N, 1), and (width,) for one sample."""
    array = _numeric(value, name)
    if array.ndim == 1:
        array = array[:, None] if width == 1 else array[None, :]
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError(f"{name} must have shape (N, {width}), found {np.shape(value)}.")
    if rows is not None and array.shape[0] != rows:
        raise InputError(f"{name} must have as many rows as q ({rows}), found {array.shape[0]}.")
    _refuse_non_finite(array, name)
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def vector(value: ArrayLike, name: str, labels: Sequence[str]) -> Array:
    """`value` as a finite (p,) array, one number for each label."""
    array = _numeric(value, name)
    if array.shape != (len(labels),):
        raise InputError(f"{name} must hold {len(labels)} values ({', '.join(labels[:3])}, ...), found shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        listed = ", ".join(labels[k] for k in bad[:5]) + (", ..." if bad.size > 5 else "")
        raise InputError(f"{name} must be finite; {listed} {'is' if bad.size == 1 else 'are'} not. Give each a value.")
    return np.array(array, dtype=np.float64)


def _numeric(value: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} must be a rectangular array of numbers.") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be an array of real numbers, found {array.dtype}.")
    return array.astype(np.float64, copy=False)


def _refuse_non_finite(array: Array, name: str) -> None:
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        row, column = bad[0]
        raise InputError(
            f"{name} must be finite; sample {row}, column {column} is {array[row, column]} ({len(bad)} such values in all)."
        )
