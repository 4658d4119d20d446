"""Checks of a controller's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, shortened
from didim.validation import LARGEST_NUMBER

Array = NDArray[np.float64]


def is_default(value: object, default: object) -> bool:
    """Whether a setting was left as it is."""
    if value is default:
        return True
    numbers = np.ndim(value) == 0 and np.ndim(default) == 0  # type: ignore[arg-type]
    return numbers and value == default


def refuse_unless(
    value: ArrayLike | None,
    name: str,
    condition: str,
    holds: Callable[[Array], Any],
    infinite: bool = False,
) -> None:
    """Refuse a setting that is not a number or one for each joint, or does not meet the
    condition.
    """
    if value is None:
        return
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be a number or one for each joint, found {shortened(value)}."
        ) from None
    if (
        isinstance(value, str | bytes | bool)
        or not (infinite or np.all(np.abs(array) < LARGEST_NUMBER))
        or not np.all(holds(array))
    ):
        hint = "; a gain of the wrong sign gives positive feedback" if condition != "finite" else ""
        raise InputError(f"{name} must be {condition}, found {shortened(value)}{hint}.")
