"""Robots that differ from the others in one parameter.

The robots of a fleet are not equal: their values scatter by more than their intervals. A robot
differs if it lies outside of the scatter of the others, found without it and without the other
suspects (the extreme studentised deviate of Rosner, for values of different variance, with suspects
ordered by their distance from the median).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Array = NDArray[np.float64]

MIN_ROBOTS = 5
"""From which on the scatter of the others is known well enough."""

NORMAL_MAD = 1.4826
"""Standard deviation of normal values over their median absolute deviation."""


@dataclass(frozen=True)
class Centre:
    """What the robots have in common."""

    mean: float
    variance: float
    """Of the mean."""
    between: float
    """Variance between robots, beyond that of their estimates."""
    count: int


def centre(x: Array, variance: Array) -> Centre:
    """Weighted mean of values with known variances, and the variance between them that makes their
    squared deviations as large as expected (Paule and Mandel).
    """

    def excess(between: float) -> float:
        weights = 1.0 / (variance + between)
        mean = np.sum(weights * x) / np.sum(weights)
        return float(np.sum(weights * (x - mean) ** 2) - (x.size - 1))

    between = 0.0
    if x.size > 1 and excess(0.0) > 0:
        largest = float(np.var(x) * x.size + 1e-300)
        between = float(optimize.brentq(excess, 0.0, largest, xtol=1e-9 * largest, rtol=1e-9))
    weights = 1.0 / (variance + between)
    total = float(np.sum(weights))
    return Centre(float(np.sum(weights * x)) / total, 1.0 / total, between, x.size)


def outliers(x: Array, variance: Array, level: float) -> tuple[Array, Centre]:
    """p-values (n,) of each robot against the others, and what those in common have.

    Parameters
    ----------
    x, variance
        (n,) values and their variances.
    level
        Probability of a wrong finding in one test; suspects are left out of the scatter as long as
        each of them is found at this level. With too few robots, all p-values are 1.
    """
    if x.size < MIN_ROBOTS:
        return np.ones(x.size), centre(x, variance)
    distance = np.abs(x - np.median(x))
    scale = (NORMAL_MAD * np.median(distance)) ** 2
    order = np.argsort(-distance / np.sqrt(variance + scale), kind="stable")
    clean, most = order, (x.size - 1) // 3
    for count in range(most, 0, -1):
        suspect, rest = order[count - 1], order[count:]
        p = _p_value(x[suspect], variance[suspect], centre(x[rest], variance[rest]))
        if p < level / most:  # so many numbers of suspects are tried
            clean = rest
            break
    found = np.empty(x.size)
    for k in range(x.size):
        others = clean[clean != k]
        found[k] = _p_value(x[k], variance[k], centre(x[others], variance[others]))
    return found, centre(x[clean], variance[clean])


def _p_value(x: float, variance: float, others: Centre) -> float:
    deviation = np.sqrt(variance + others.between + others.variance)
    return float(2 * stats.t.sf(abs(x - others.mean) / deviation, others.count - 1))
