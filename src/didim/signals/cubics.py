"""Coefficients of piecewise cubics through samples, lowest power first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

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
    if interpolation == "cubic" and time.size > 2:
        return _hermite(time, values, _spline_slopes(time, values))
    coefficients = np.zeros((*values.shape, 4))
    coefficients[:, :, 0] = values
    if interpolation != "held":
        coefficients[:-1, :, 1] = np.diff(values, axis=0) / np.diff(time)[:, None]
    return coefficients


def smooth_piecewise_cubic(time: Array, q: Array, dq: Array, ddq: Array) -> PiecewiseCubic:
    """The piecewise cubic of a motion that is known exactly at the knots: cubics with its values
    and slopes; a spline for ddq.
    """
    value, rate = _hermite(time, q, dq), _hermite(time, dq, ddq)
    return PiecewiseCubic(knots_of(time), value, rate, interpolated(time, ddq, "cubic"))


def _spline_slopes(time: Array, values: Array) -> Array:
    """Slopes (N, n) of the cubic splines through `values` (N, n), N >= 3, whose third derivative
    does not jump at the second and at the last knot but one; three values have a parabola.

    Those of SciPy's `CubicSpline`, whose package takes longer to import than a small identification
    takes.
    """
    step = np.diff(time)
    width = step[:, None]
    chord = np.diff(values, axis=0) / width
    bands, right = np.zeros((3, time.size)), np.empty(values.shape)
    bands[1, 1:-1] = 2 * (step[:-1] + step[1:])
    bands[0, 2:], bands[2, :-2] = step[:-1], step[1:]
    right[1:-1] = 3 * (width[1:] * chord[:-1] + width[:-1] * chord[1:])
    if time.size == 3:
        bands[1, [0, 2]] = bands[0, 1] = bands[2, 1] = 1.0
        right[0], right[2] = 2 * chord[0], 2 * chord[1]
    else:
        first, last = time[2] - time[0], time[-1] - time[-3]
        bands[1, [0, -1]] = step[1], step[-2]
        bands[0, 1], bands[2, -2] = first, last
        right[0] = (width[0] + 2 * first) * width[1] * chord[0] + width[0] ** 2 * chord[1]
        right[-1] = width[-1] ** 2 * chord[-2] + (2 * last + width[-1]) * width[-2] * chord[-1]
        right[[0, -1]] /= [[first], [last]]
    return np.asarray(linalg.solve_banded((1, 1), bands, right, check_finite=False))


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
