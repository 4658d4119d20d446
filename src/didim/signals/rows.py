"""How the samples of a record become rows of a linear system (10)-(14): cut, filter, decimate,
leave out joints at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError, shortened
from didim.signals.decimation import Decimation, Source
from didim.validation import per_joint, whole

Array = NDArray[np.float64]

MOVING = 0.01
"""Fraction of a joint's largest speed in a record, below which it counts as at rest."""


def _is_not_negative(value: ArrayLike) -> bool:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return array.ndim <= 1 and bool(np.all(array >= 0))


@dataclass(frozen=True, eq=False)
class RowSelection:
    """Cuts, decimation and rest, in the order in which they are applied."""

    decimation: int = 20
    """n_d: one sample in so many is kept."""
    decimate: str = "scipy"
    """"matlab", "scipy" or "fir", see `signals/decimation.py`."""
    trim: tuple[int, int] = (0, 0)
    """Samples cut at the start and at the end, before anything is decimated."""
    rest_velocity: ArrayLike | None = None
    """Equations of a joint slower than this (rad/s or m/s; one number or one for each joint) are
    left out; None: none.
    """
    ends: bool = True
    """Whether the first and last rows count. Forward-backward filters continue a record about its
    end samples, whose noise these rows take over whole.
    """

    def __post_init__(self) -> None:
        _ = self.decimator
        try:
            start, end = self.trim
        except (TypeError, ValueError):
            raise InputError(
                "trim must be two numbers of samples, at start and end, found "
                f"{shortened(self.trim)}."
            ) from None
        if self.rest_velocity is not None and not _is_not_negative(self.rest_velocity):
            raise InputError(
                "rest_velocity must be one number or one for each joint, not negative, found "
                f"{shortened(self.rest_velocity)}."
            )
        object.__setattr__(
            self, "trim", (whole(start, "trim at the start", 0), whole(end, "trim at the end", 0))
        )

    @cached_property
    def decimator(self) -> Decimation:
        """The filter."""
        return Decimation(self.decimation, self.decimate)

    def window(self, t: Array, transient: float = 0.0, edge: int = 0) -> tuple[int, int]:
        """First and one past the last sample that are used, without `transient` s at the start;
        refused if too few remain.

        `edge` samples are cut at both ends as well, unless that would leave less than half of the
        rest.
        """
        after = int(np.searchsorted(t, t[0] + transient - 1e-9))
        start, stop = max(self.trim[0], after), t.size - self.trim[1]
        least = max(self.decimator.shortest, 2)
        inner = max(start, edge), min(stop, t.size - edge)
        if inner[1] - inner[0] >= max(least, (stop - start) // 2):
            return inner
        if stop - start < least:
            raise InputError(
                f"The record is too short: {t.size} samples ({t[-1] - t[0]:.4g} s), of which "
                f"{max(stop - start, 0)} remain "
                f"after a transient of {transient:.3g} s and trim {self.trim}; decimation by "
                f"{self.decimation} needs {least}. "
                "Record longer, decimate less, or give a shorter transient."
            )
        return start, stop

    def samples(self, window: tuple[int, int]) -> NDArray[np.int64]:
        """(K,) the sample that each row of a window stands for."""
        start, stop = window
        return np.asarray(start + self.decimator.kept(stop - start))

    def used(self, dq: Array, window: tuple[int, int]) -> NDArray[np.bool_]:
        """(K, n) whether joint j's equation in row k of a window is used, for the velocities dq (N,
        n).
        """
        if self.rest_velocity is None:
            return self._at_least(0.0, dq, window)
        limit = per_joint(self.rest_velocity, "rest_velocity", dq.shape[1])
        return self._at_least(limit, dq, window)

    def moves(self, dq: Array, window: tuple[int, int]) -> NDArray[np.bool_]:
        """(K, n) whether joint j moves in row k, whatever `rest_velocity` leaves out: faster than
        a hundredth of its largest speed.
        """
        largest = np.abs(dq).max(axis=0)
        return self._at_least(np.where(largest > 0, MOVING * largest, np.inf), dq, window)

    def _at_least(
        self, limit: Array | float, dq: Array, window: tuple[int, int]
    ) -> NDArray[np.bool_]:
        used = np.abs(dq[self.samples(window)]) >= limit
        if not self.ends and self.decimation > 1 and self.decimate != "fir":
            used[[0, -1]] = False
        return used

    def reduce(self, window: tuple[int, int], source: Source) -> Array:
        """Columns of the record, which `source(start, stop)` gives, filtered and decimated over the
        window: (K, m).
        """
        start, stop = window
        return self.decimator.apply(stop - start, lambda a, b: source(start + a, start + b))

    def columns(self, window: tuple[int, int], signals: Array) -> Array:
        """The same for signals (N, m) that are at hand."""
        return self.reduce(window, lambda start, stop: signals[start:stop])
