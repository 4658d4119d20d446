"""Whether a record with a load can be compared with one of the empty robot: its length, and its
units. What no load changes, friction, offsets and rotors, must be of the same size in both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.payload.difference import Gaussian

MAX_RATIO = 4.0
"""Of parameters that a load does not change, median: friction of a warm robot may be half that of a
cold one.
"""

MAX_LINK_RATIO = 50.0
"""Of all parameters, median, where there are no others."""

MIN_ROWS_PER_PARAMETER = 2
"""Equations of a record, at least."""

MIN_SIGMAS = 3.0
"""Of a parameter in both estimates, to be compared."""


def refuse_short(rows: int, parameters: int, what: str) -> None:
    """Refuse records that leave too few equations for the parameters of the model."""
    if rows < MIN_ROWS_PER_PARAMETER * parameters:
        raise InputError(
            f"The record {what} is too short: {rows} equations remain for {parameters} parameters, "
            f"{MIN_ROWS_PER_PARAMETER * parameters} are needed. Record longer, or decimate less."
        )


def refuse_other_units(
    empty: Gaussian, loaded: Gaussian, unchanged: NDArray[np.bool_], remedy: str
) -> None:
    """Refuse a loaded record whose torques or control signals are in another unit; `unchanged`
    (b,) says which base parameters no load changes.
    """
    sure = np.ones(unchanged.size, dtype=bool)
    for each in (empty, loaded):
        sigma = np.sqrt(np.maximum(np.diag(each.corrected), 0.0))
        sure &= np.abs(each.values) > MIN_SIGMAS * sigma
    chosen, limit = sure & unchanged, MAX_RATIO
    if not chosen.any():
        chosen, limit = sure, MAX_LINK_RATIO
    if not chosen.any():
        return
    ratio = float(np.median(np.abs(loaded.values[chosen] / empty.values[chosen])))
    if not 1.0 / limit < ratio < limit:
        raise InputError(
            "The record with the load has other units than that of the empty robot: what no load "
            f"changes, such as friction, is {ratio:.3g} times as large. {remedy}"
        )
