"""How far records are filtered where the user does not say: the cutoff of the positions, and the
decimation of the equations.

Both follow from the noise of the positions, which differentiating twice multiplies by (2 pi f)^2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.signals.decimation import CUTOFF_FRACTION
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.filters import estimated_motion, reach
from didim.signals.noise import noise_variance, position_noise
from didim.signals.resample import period_of
from didim.signals.rows import RowSelection
from didim.signals.states import measured_positions, still_joints

Array = NDArray[np.float64]

MAX_ACCELERATION_NOISE = 0.1
"""Of the filtered acceleration, over its rms."""

MAX_TORQUE_FRACTION = 0.25
"""Torque that the noise of the positions makes at the highest frequency of the equations, over the
noise of the torque there.
"""

MAX_CUTOFF = 0.2
"""Of the sampling rate: what lies above is noise in any record."""

MIN_CUTOFF = 2.5
"""Times the band of the equations: the Butterworth filter of order 4, forward and backward, takes
less than 0.1 % there.
"""

MIN_BAND = 1.5
"""Times the band of the motion, which the equations must keep."""

MOTION_POWER = 0.99
"""Fraction of the power of the velocities that lies in the band of the motion."""

ROWS_PER_PARAMETER = 4
"""Equations that remain, at least."""

MIN_LENGTH = 4
"""Of a record, over the shortest that can be decimated."""

LOW_CUTOFF = 10.0
"""Hz, at least, of the filter by which the motion itself is seen."""


@dataclass(frozen=True)
class Bandwidth:
    """The filters of a fit."""

    cutoff: float | None
    """Hz, of the filter of positions; None: none."""
    multiple: int = 1
    """Times that the decimation which is set is repeated."""
    is_chosen: bool = False
    """Whether it was chosen from the records."""


@dataclass(frozen=True)
class _Limits:
    """What one record allows, Hz."""

    highest: float
    """Cutoff that the sampling rate allows."""
    quiet: float
    """Cutoff at which the noise of the acceleration is `MAX_ACCELERATION_NOISE`."""
    clean: float
    """Frequency up to which positions add less than `MAX_TORQUE_FRACTION` to the noise of the
    torque.
    """
    motion: float
    """Band of the motion."""
    rows: float
    """Band of the equations, as decimation is set."""


def choose_bandwidth(
    records: Sequence[Experiment],
    others: Sequence[Experiment],
    selection: RowSelection,
    parameters: int,
) -> Bandwidth:
    """The filters for records on regular clocks with measured positions.

    `others` are records that will be predicted with the same filters; `selection` is the one that
    was set, `parameters` how many unknowns the equations must determine.
    """
    decimation = selection.decimation
    limits = [_limits(record, decimation) for record in records]
    band = max(min(each.clean for each in limits), MIN_BAND * max(each.motion for each in limits))
    rows = max(each.rows for each in limits)
    most = _largest_multiple((*records, *others), records, selection, parameters)
    multiple = max(min(round(rows / band), most), 1)
    cutoff = max(min(each.quiet for each in limits), MIN_CUTOFF * rows / multiple)
    highest = [MAX_CUTOFF / period_of(np.asarray(each.t)) for each in others]
    return Bandwidth(min(cutoff, *(each.highest for each in limits), *highest), multiple, True)


def suited_bandwidth(
    cutoff: float | None, records: Sequence[Experiment], selection: RowSelection, parameters: int
) -> Bandwidth:
    """A cutoff that was set, with equations decimated so far that the filter takes less than 0.1 %
    in their band, as far as the records are long enough.
    """
    if cutoff is None:
        return Bandwidth(None)
    rates = [1.0 / period_of(np.asarray(record.t)) for record in records]
    rows = CUTOFF_FRACTION / 2 * max(rates) / selection.decimation
    most = _largest_multiple(records, records, selection, parameters)
    return Bandwidth(cutoff, max(min(math.ceil(MIN_CUTOFF * rows / cutoff - 1e-9), most), 1))


def _largest_multiple(
    every: Sequence[Experiment],
    fitted: Sequence[Experiment],
    selection: RowSelection,
    parameters: int,
) -> int:
    """Times that the decimation can be repeated: equations and rows of every record remain."""
    equations = sum(record.t.size * record.n // selection.decimation for record in fitted)
    shortest = min(record.t.size for record in every)
    return min(
        equations // (ROWS_PER_PARAMETER * parameters),
        shortest // (MIN_LENGTH * selection.decimator.shortest),
    )


def _limits(record: Experiment, decimation: int) -> _Limits:
    q, tau = measured_positions(record), measured_torque(record)
    rate = 1.0 / period_of(np.asarray(record.t))
    rows, highest = CUTOFF_FRACTION / 2 * rate / decimation, MAX_CUTOFF * rate
    low = min(max(MIN_CUTOFF * rows, LOW_CUTOFF), highest)
    motion, moves = estimated_motion(q, rate, low), ~still_joints(q)
    if not moves.any():
        return _Limits(highest, low, rows, 0.0, rows)
    edge = min(2 * reach(rate, low), q.shape[0] // 4)
    inner = slice(edge, q.shape[0] - edge)
    dq, ddq = (each[inner][:, moves] for each in motion[1:])
    acceleration = np.sqrt(np.mean(ddq**2, axis=0))
    noise = np.maximum(position_noise(q)[moves], 1e-300)
    # white noise of deviation s, below f, has the acceleration s (2 pi f)^2 sqrt(2 f / (5 rate))
    quiet = (
        MAX_ACCELERATION_NOISE * acceleration / noise * math.sqrt(5 * rate / 2) / (2 * np.pi) ** 2
    ) ** 0.4
    # as torque, through an inertia of tau / ddq, beside the noise of the torque
    disturbance = np.sqrt(noise_variance(tau, inner)) / np.maximum(tau.std(axis=0), 1e-300)
    ratio = MAX_TORQUE_FRACTION * disturbance[moves] * acceleration / noise
    clean = np.sqrt(math.sqrt(5.0) * ratio) / (2 * np.pi)
    return _Limits(highest, float(quiet.min()), float(clean.min()), motion_band(dq, rate), rows)


def motion_band(dq: Array, rate: float) -> float:
    """Hz below which `MOTION_POWER` of velocities (N, n) lies, all joints alike; 0 where nothing
    moves.
    """
    dq = dq - dq.mean(axis=0)
    spread = dq.std(axis=0)
    if not np.any(spread > 0):
        return 0.0
    power = np.sum(np.abs(np.fft.rfft(dq[:, spread > 0] / spread[spread > 0], axis=0)) ** 2, axis=1)
    fraction = np.cumsum(power) / power.sum()
    return float(np.searchsorted(fraction, MOTION_POWER) * rate / dq.shape[0])
