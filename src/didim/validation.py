"""Validation of input: arrays are converted to what the kernels read, and refused with a clear
message where they do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, nearest, shortened

Array = NDArray[np.float64]

LARGEST_NUMBER = 1e50
"""Larger numbers count as infinite, since their products would be."""


def samples(value: ArrayLike, name: str, width: int, rows: int | None = None) -> Array:
    """`value` as a finite, C-contiguous (N, width) array; (N,) is taken for (N, 1), and (width,)
    for one sample.
    """
    array = _numeric(value, name)
    if array.ndim == 1:
        array = array[:, None] if width == 1 else array[None, :]
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError(f"{name} must have shape (N, {width}), found {np.shape(value)}.")
    if rows is not None and array.shape[0] != rows:
        raise InputError(
            f"{name} must have {rows} rows like the other signals, found {array.shape[0]}."
        )
    _refuse_non_finite(array, name)
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def real(value: object, name: str, above: float | None = None, least: float | None = None) -> float:
    """`value` as one finite number, above or at least a bound where given."""
    try:
        is_text = isinstance(value, str | bytes | bool)
        number = np.nan if is_text else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    bound = (
        f" above {above:g}"
        if above is not None
        else (f" of at least {least:g}" if least is not None else "")
    )
    fits = (
        abs(number) < LARGEST_NUMBER
        and (above is None or number > above)
        and (least is None or number >= least)
    )
    if not fits:
        raise InputError(f"{name} must be one finite number{bound}, found {shortened(value)}.")
    return number


def whole(value: object, name: str, least: int) -> int:
    """`value` as a whole number of at least `least`."""
    number = real(value, name)
    if number > 2**53:
        raise InputError(f"{name} must be at most 2^53, found {shortened(value)}.")
    if number != int(number) or number < least:
        raise InputError(
            f"{name} must be a whole number of at least {least}, found {shortened(value)}."
        )
    return int(number)


def flag(value: object, name: str, optional: bool = False) -> None:
    """Refuse what is not True or False (or None, where that is allowed)."""
    if not isinstance(value, bool) and not (optional and value is None):
        allowed = "True, False or None" if optional else "True or False"
        raise InputError(f"{name} must be {allowed}, found {shortened(value)}.")


def one_of(value: object, name: str, words: Sequence[str]) -> None:
    """Refuse what is none of the words."""
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{name} {value!r} is unknown; {nearest(str(value), words)}")


def width_of(value: ArrayLike, name: str) -> int:
    """Number of columns of an (N, n) array; 1 for (N,)."""
    array = _numeric(value, name)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InputError(f"{name} must have shape (N, n) or (N,), found {array.shape}.")
    return 1 if array.ndim == 1 else int(array.shape[1])


def table(value: ArrayLike, name: str) -> Array:
    """`value` as a finite two-dimensional array."""
    array = _numeric(value, name)
    if array.ndim != 2 or not array.size or not np.abs(array).max() < LARGEST_NUMBER:
        raise InputError(
            f"{name} must be a finite array of two dimensions, found shape {array.shape}."
        )
    return np.array(array)


def array_of(value: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """`value` as a float array of the given shape, which may hold nan and inf."""
    array = _numeric(value, name)
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, found {array.shape}.")
    return np.array(array)


def instants(value: ArrayLike, name: str, least: int = 2) -> Array:
    """`value` as a finite, strictly rising (N,) array of times in s."""
    array = _numeric(value, name)
    if array.ndim != 1 or array.size < least:
        raise InputError(
            f"{name} must be a list of at least {least} times, found shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise InputError(
            f"{name} must be finite; sample {int(np.flatnonzero(~np.isfinite(array))[0])} is not."
        )
    if not np.all(np.diff(array) > 0):
        k = int(np.flatnonzero(np.diff(array) <= 0)[0])
        raise InputError(
            f"{name} must rise; sample {k + 1} ({array[k + 1]:g} s) does not come after sample {k} "
            f"({array[k]:g} s)."
        )
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])


def per_joint(value: ArrayLike, name: str, n: int) -> Array:
    """`value` as a finite (n,) array; one number stands for all joints."""
    array = _numeric(value, name)
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise InputError(
            f"{name} must be one number or {n} (one for each joint), found shape {array.shape}."
        )
    if not np.all(np.abs(array) < LARGEST_NUMBER):
        raise InputError(f"{name} must be finite, found {array.tolist()}.")
    return np.array(array)


def vector(value: ArrayLike, name: str, labels: Sequence[str]) -> Array:
    """`value` as a finite (p,) array, one number for each label."""
    array = _numeric(value, name)
    if array.shape != (len(labels),):
        raise InputError(
            f"{name} must hold {len(labels)} values ({', '.join(labels[:3])}, ...), found shape "
            f"{array.shape}."
        )
    bad = np.flatnonzero(~(np.abs(array) < LARGEST_NUMBER))
    if bad.size:
        listed = ", ".join(labels[k] for k in bad[:5]) + (", ..." if bad.size > 5 else "")
        raise InputError(
            f"{name} must be finite; {listed} {'is' if bad.size == 1 else 'are'} not. Give each a "
            "value."
        )
    return np.array(array, dtype=np.float64)


def callback(progress: object) -> None:
    """Refuse what is no function to report progress to, nor None."""
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress must be a function of the fraction done, found {shortened(progress)}."
        )


def set_fields(instance: object, **values: object) -> None:
    """Set fields of a frozen dataclass, whose constructor takes more types than its fields have."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def _numeric(value: ArrayLike, name: str) -> Array:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name} has masked values; fill or drop them.")
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} must be a rectangular array of numbers.") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be an array of real numbers, found {array.dtype}.")
    return array.astype(np.float64, copy=False)


def _refuse_non_finite(array: Array, name: str) -> None:
    if array.size and not np.abs(array).max() < LARGEST_NUMBER:
        bad = np.argwhere(~(np.abs(array) < LARGEST_NUMBER))
        row, column = bad[0]
        raise InputError(
            f"{name} must be finite; sample {row}, column {column} is {array[row, column]} "
            f"({len(bad)} such values in all)."
        )
