"""Coefficients of piecewise cubics through samples, lowest power first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from didim.signals.kernels.piecewise_cubic import PiecewiseCubic

Array = NDArray[np.float64]


def evaluated(c: Array, u: Array) -> Array:
    """Cubics (K, m, 4) at the times u (K, 1) since each began: (K, m)."""
    return np.asarray(((c[:, :, 3] * u + c[:, :, 2]) * u + c[:, :, 1]) * u + c[:, :, 0])


def knots_of(time: Array) -> Array:
    """The knots (N + 1,) of N intervals: the last value has an interval of its own, so that it is
    read at its own time.
    """
    return np.append(time, 2 * time[-1] - time[-2])


def interpolated(time: Array, values: Array, interpolation: str) -> Array:
    """Coefficients (N, n, 4) of the cubics through `values` (N, n), the last one constant."""
    coefficients = np.zeros((*values.shape, 4))
    coefficients[:, :, 0] = values
    if interpolation == "cubic" and time.size > 2:
        coefficients[:-1] = _coefficients(CubicSpline(time, values, axis=0).c)
    elif interpolation != "held":
        coefficients[:-1, :, 1] = np.diff(values, axis=0) / np.diff(time)[:, None]
    return coefficients


def smooth_piecewise_cubic(time: Array, q: Array, dq: Array, ddq: Array) -> PiecewiseCubic:
    """The piecewise cubic of a motion that is known exactly at the knots: cubics with its values
    and slopes; a spline for ddq.
    """
    value, rate = _hermite(time, q, dq), _hermite(time, dq, ddq)
    return PiecewiseCubic(knots_of(time), value, rate, interpolated(time, ddq, "cubic"))


def _hermite(time: Array, values: Array, slopes: Array) -> Array:
    """Coefficients (N, n, 4) of the cubics with these values and slopes (N, n), the last one
    constant.
    """
    coefficients = np.zeros((*values.shape, 4))
    interval = np.diff(time)[:, None]
    chord = np.diff(values, axis=0) / interval
    bend = (slopes[:-1] + slopes[1:] - 2 * chord) / interval
    coefficients[:, :, 0] = values
    coefficients[:-1, :, 1] = slopes[:-1]
    coefficients[:-1, :, 2] = (chord - slopes[:-1]) / interval - bend
    coefficients[:-1, :, 3] = bend / interval
    return coefficients


def _coefficients(c: Array) -> Array:
    """SciPy's (4, m, n), highest power first, as (m, n, 4), lowest first."""
    return np.ascontiguousarray(np.moveaxis(c[::-1], 0, 2))
