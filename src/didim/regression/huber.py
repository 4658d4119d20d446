"""Huber's robust weights: errors beyond a few standard deviations count by their size, not by its
square.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HUBER = 1.345
"""Beyond so many standard deviations a row loses weight: 95 % efficiency on Gaussian noise."""

NORMAL_MEDIAN = 0.6745
"""Median of the absolute value of a standard normal variable."""


def robust_deviation(rho: Array) -> float:
    """The standard deviation of errors (r,) by their median absolute value; 0 without any."""
    return float(np.median(np.abs(rho)) / NORMAL_MEDIAN) if rho.size else 0.0


def huber_factors(x: Array) -> Array:
    """(r,) by which least squares multiplies rows with errors x (r,) in standard deviations."""
    return np.sqrt(np.minimum(1.0, HUBER / np.maximum(np.abs(x), HUBER)))


def huber_loss(x: Array) -> float:
    """The mean of x^2 / 2 where |x| is small, of c |x| - c^2 / 2 beyond c, of errors x (r,)."""
    size = np.abs(x)
    each = np.where(size < HUBER, 0.5 * size**2, HUBER * (size - 0.5 * HUBER))
    return float(np.mean(each)) if x.size else 0.0
