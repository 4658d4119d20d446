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

    between, largest = 0.0, 2.0 * x.size * float(np.var(x))
    if largest > 0 and excess(0.0) > 0:
        between = float(optimize.brentq(excess, 0.0, largest, xtol=1e-15 * largest, rtol=1e-12))
    weights = 1.0 / (variance + between)
    total = float(np.sum(weights))
    return Centre(float(np.sum(weights * x)) / total, 1.0 / total, between, x.size)


@dataclass(frozen=True, eq=False)
class Compared:
    """Robots beside each other in one parameter."""

    p_values: Array
    """(n,) of each robot against the others; 1 with too few robots."""
    common: Centre
    """What those have in common that are not suspects."""
    found_from: float
    """Difference from the others at which half of the robots would be found; nan with too few."""


def compared(x: Array, variance: Array, level: float) -> Compared:
    """Each robot against the others.

    Parameters
    ----------
    x, variance
        (n,) values and their variances.
    level
        Probability of a wrong finding in one test; suspects are left out of the scatter as long as
        each of them is found at this level.
    """
    if x.size < MIN_ROBOTS:
        return Compared(np.ones(x.size), centre(x, variance), np.nan)
    distance = np.abs(x - np.median(x))
    scale = (NORMAL_MAD * np.median(distance)) ** 2
    order = np.argsort(-distance / np.sqrt(variance + scale), kind="stable")
    clean, most = order, (x.size - 1) // 3
    for count in range(most, 0, -1):
        suspect, rest = order[count - 1], order[count:]
        others = centre(x[rest], variance[rest])
        if _p_value(x[suspect], variance[suspect], others) < level / most:
            clean = rest  # so many numbers of suspects are tried
            break
    around = [
        centre(x[rest], variance[rest]) for rest in (clean[clean != k] for k in range(x.size))
    ]
    p_values = [_p_value(*each) for each in zip(x, variance, around, strict=True)]
    limits = [
        stats.t.isf(0.5 * level, others.count - 1) * _deviation(own, others)
        for own, others in zip(variance, around, strict=True)
    ]
    common = centre(x[clean], variance[clean])
    return Compared(np.array(p_values), common, float(np.median(limits)))


def _deviation(variance: float, others: Centre) -> float:
    """Of a robot that does not differ from the mean of the others."""
    return float(np.sqrt(variance + others.between + others.variance))


def _p_value(x: float, variance: float, others: Centre) -> float:
    t = abs(x - others.mean) / _deviation(variance, others)
    return float(2 * stats.t.sf(t, others.count - 1))
