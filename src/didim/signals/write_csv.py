"""Signals as a text table, with the names of columns that the readers look for."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def csv_of(t: NDArray[np.float64], signals: Mapping[str, NDArray[np.float64]]) -> bytes:
    """A table with the columns t, and name1, name2, ... of each signal (N, n)."""
    names = [
        "t",
        *(f"{name}{j + 1}" for name, signal in signals.items() for j in range(signal.shape[1])),
    ]
    text = io.StringIO()
    np.savetxt(
        text,
        np.column_stack([t, *signals.values()]),
        "%.12g",
        ",",
        header=",".join(names),
        comments="",
    )
    return text.getvalue().encode()
