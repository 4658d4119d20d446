"""`Table`: the columns of a file by name, and what its reader has to say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Table(dict[str, Array]):
    """Columns by name: (N,) from text files; (N,) or (N, n) from files of arrays. What a file does
    not say is nan.
    """

    headed: bool
    """Whether the file names its columns; if not they are called "1", "2", ..."""
    notes: tuple[str, ...]
    """What was done when the file was read."""
    units: Mapping[str, str]
    """From a column to the unit that the file states for it."""
    damaged: Mapping[int, str]
    """From a row (0 is the first), all nan, to what its line was and where."""

    def __init__(
        self,
        columns: Mapping[str, Array],
        *,
        headed: bool = True,
        notes: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        damaged: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(columns)
        self.headed, self.notes = headed, tuple(notes)
        self.units, self.damaged = dict(units or {}), dict(damaged or {})
