"""When the robot of a log moves, and how fast: what a new study needs to leave rest out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.signals.columns import columns_of, signal_of
from didim.signals.readers.table import Table
from didim.signals.units import in_si
from didim.study.guess import Guess, Named

Array = NDArray[np.float64]

REST_SPEED_FRACTION = 0.02
"""Fraction of a joint's top speed below which it is taken to be at rest."""

MIN_REST_FRACTION = 0.01
"""Fraction of a log's rows, at its ends, from which on rest there is left out."""

_MARGIN = 10
"""Rows that are kept before and after the motion."""


@dataclass(frozen=True)
class Motion:
    """Where the motion of a log is."""

    rows: tuple[int, int] | None
    """First and last row, counted from 1; None: all."""
    speed: Array
    """(n,) top speed of each joint, rad/s or m/s."""

    @property
    def rest_velocity(self) -> list[float]:
        """(n,) below which the joints are taken to be at rest, with one digit."""
        return [float(f"{REST_SPEED_FRACTION * each:.1g}") for each in self.speed]


def motion_of(table: Table, guess: Guess, joints: Sequence[str]) -> Motion | None:
    """The motion of a log, from its velocities or positions; None where they are not known."""
    chosen: dict[str, Named] = {
        key: columns for key, columns in guess.columns.items() if key in ("t", "dq", "q")
    }
    if "t" not in chosen or len(chosen) == 1:
        return None
    try:
        columns = columns_of(table, chosen, [*chosen], "", joints)
        found = {key: signal_of(table, key, names, "") for key, names in columns.items()}
        signals = in_si(found, {key: guess.units[key] for key in found if key in guess.units}, "")
    except InputError:  # load_experiment says it
        return None
    speed = _speed(signals)
    if speed is None:
        return None
    top = np.nanquantile(speed, 0.999, axis=0)
    if not np.all(top > 0):
        return None
    moving = np.flatnonzero((speed > REST_SPEED_FRACTION * top).any(axis=1))
    count = len(speed)
    first, last = max(0, moving[0] - _MARGIN), min(count - 1, moving[-1] + _MARGIN)
    rest = count - (last - first + 1)
    return Motion(
        (int(first) + 1, int(last) + 1) if rest > MIN_REST_FRACTION * count else None, top
    )


def _speed(signals: Mapping[str, Array]) -> Array | None:
    """|dq| (N, n), logged or from differences of the positions."""
    if "dq" in signals:
        return np.abs(signals["dq"])
    t, q = signals["t"][:, 0], signals["q"]
    if t.size < 2 * _MARGIN or not np.all(np.diff(t) > 0):
        return None
    window = np.ones(5) / 5
    smooth = np.column_stack([np.convolve(column, window, mode="same") for column in q.T])
    speed: Array = np.abs(np.gradient(smooth, t, axis=0))
    speed[:5] = speed[-5:] = 0.0
    return speed
