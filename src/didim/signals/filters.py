"""From measured positions to velocities and accelerations, without phase shift (section II, before
eq. 8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.signals.filter_design import butterworth
from didim.signals.zero_phase import zero_phase
from didim.validation import whole

Array = NDArray[np.float64]

_EIGHTH_ORDER = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
"""Central difference of x[k+i] - x[k-i], i = 1, 2, ..., whose error is of order step^8."""


def lowpass(x: Array, rate: float, cutoff: float | None, order: int = 4) -> Array:
    """Columns of x (N, n) through a Butterworth filter, forward and backward (filtfilt); None: as
    they are.

    `rate` and `cutoff` are in Hz; each pass is 3 dB down at the cutoff, both together 6 dB.
    """
    if cutoff is None:
        return x
    order = whole(order, "order", least=1)
    if not 0 < cutoff < rate / 2:
        raise InputError(
            f"cutoff must lie between 0 and {rate / 2:g} Hz, half the sampling rate, found "
            f"{cutoff:g}; None filters nothing."
        )
    least = max(3 * order + 2, rate / cutoff)
    if x.shape[0] < least:
        raise InputError(
            f"The record is too short: {x.shape[0]} samples, a filter of order {order} and "
            f"{cutoff:g} Hz needs {least:.4g}."
        )
    sections = butterworth(order, 2 * cutoff / rate)
    return zero_phase(
        [np.ascontiguousarray(x, dtype=float)], sections, max(3 * order, reach(rate, cutoff))
    )


def reach(rate: float, cutoff: float | None) -> int:
    """Samples over which a filter of this cutoff has its effect: one period of the cutoff.

    A record that begins in motion is continued by as many beyond its ends, or MATLAB's three times
    the order if that is more.
    """
    return 0 if cutoff is None else int(rate / cutoff)


def central_difference(x: Array, step: float, accuracy: int = 2) -> Array:
    """Rate of the columns of x (N, n), s apart by `step`: (x[k+1] - x[k-1]) / (2 step), one-sided
    at both ends. At f Hz it is 1 - (2 pi f step)^2 / 6 of the truth.

    `accuracy` 8 takes four neighbours to either side where there are as many: 1 - (2 pi f step)^8 /
    630 of the truth.
    """
    rate = np.gradient(x, step, axis=0)
    reach = len(_EIGHTH_ORDER)
    if accuracy == 8 and x.shape[0] > 2 * reach:
        last = x.shape[0] - reach
        rate[reach:last] = sum(
            weight * (x[reach + k : last + k] - x[reach - k : last - k])
            for k, weight in enumerate(_EIGHTH_ORDER, start=1)
        )
        rate[reach:last] /= step
    return rate


def integral(t: Array, x: Array) -> Array:
    """Integral of the columns of x (N, n) over t (N,) from the first sample on, by trapezia."""
    areas = np.diff(t)[:, None] * (x[1:] + x[:-1]) / 2.0
    return np.vstack([np.zeros((1, x.shape[1])), np.cumsum(areas, axis=0)])


def estimated_motion(
    q: Array, rate: float, cutoff: float | None, order: int = 4, accuracy: int = 2
) -> tuple[Array, Array, Array]:
    """q, dq, ddq (N, n) from measured positions: filtered, then differentiated twice by central
    differences of the given order of accuracy.
    """
    smooth = lowpass(q, rate, cutoff, order)
    dq = central_difference(smooth, 1.0 / rate, accuracy)
    return smooth, dq, central_difference(dq, 1.0 / rate, accuracy)
