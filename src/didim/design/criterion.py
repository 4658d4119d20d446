"""What makes a plan good: a number of its information matrix, smaller is better, with its slope."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]

WORST_POWER = 8.0
"""Of the norm that stands for the largest of the relative sigmas."""

RIDGE = 1e-13
"""Of the scaled information matrix, so that it can be inverted."""


SMALLEST = 1e-30
"""Information that counts as some."""


class Criterion(ABC):
    """A function of the information matrix A (b, b)."""

    uses_slow_friction: bool = True

    @abstractmethod
    def value(self, A: Array) -> tuple[float, Array]:
        """The number, and its derivative (b, b) by A."""


def inverse(A: Array) -> tuple[Array, float]:
    """A^-1 and log det A, by Cholesky of the matrix with a unit diagonal."""
    diagonal = np.diag(A)
    scale = np.sqrt(np.maximum(diagonal, RIDGE * max(float(diagonal.max()), SMALLEST)))
    unit = A / np.outer(scale, scale)
    unit[np.diag_indices_from(unit)] += RIDGE
    try:
        factor = linalg.cholesky(unit, lower=True)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(unit)
        values = np.maximum(values, RIDGE)
        C = (vectors / values) @ vectors.T
        return C / np.outer(scale, scale), float(np.log(values).sum() + 2 * np.log(scale).sum())
    C = linalg.cho_solve((factor, True), np.eye(scale.size))
    return C / np.outer(scale, scale), float(2 * np.log(np.diag(factor) * scale).sum())


@dataclass(frozen=True)
class LogDet(Criterion):
    """-log det A / 2 b: the mean logarithm of the axes of the confidence ellipsoid."""

    def value(self, A: Array) -> tuple[float, Array]:
        """As `Criterion.value`."""
        C, logdet = inverse(A)
        count = 2.0 * A.shape[0]
        return -logdet / count, -C / count


@dataclass(frozen=True, eq=False)
class WeightedSigma(Criterion):
    """sum w_i log sigma_i / sum w_i."""

    weights: Array
    """(k,) of the first k unknowns; the others have none."""

    def value(self, A: Array) -> tuple[float, Array]:
        """As `Criterion.value`."""
        C, _ = inverse(A)
        k = self.weights.size
        w, variance = self.weights / self.weights.sum(), np.diag(C)[:k]
        columns = C[:, :k]
        return float(0.5 * w @ np.log(variance)), -0.5 * (columns * (w / variance)) @ columns.T


@dataclass(frozen=True, eq=False)
class WorstRelative(Criterion):
    """log of the largest sigma_i / |value_i|, by a norm of power 8."""

    values: Array
    """(k,) nominal; those that are zero do not count."""

    def value(self, A: Array) -> tuple[float, Array]:
        """As `Criterion.value`."""
        C, _ = inverse(A)
        k, p = self.values.size, 0.5 * WORST_POWER
        variance, columns = np.diag(C)[:k], C[:, :k]
        ratio = variance / np.where(self.values != 0, self.values, np.inf) ** 2
        top = ratio.max()
        powers = (ratio / top) ** p
        shares = powers / powers.sum()
        slope = -0.5 * (columns * (shares / variance)) @ columns.T
        return float(0.5 * (np.log(top) + np.log(powers.sum()) / p)), slope


@dataclass(frozen=True)
class Condition(Criterion):
    """log of the condition number of the weighted regressor, the usual criterion elsewhere."""

    uses_slow_friction: bool = False

    def value(self, A: Array) -> tuple[float, Array]:
        """As `Criterion.value`."""
        values, vectors = linalg.eigh(A)
        low = max(values[0], 1e-16 * values[-1])
        first, last = vectors[:, 0], vectors[:, -1]
        slope = 0.5 * (np.outer(last, last) / values[-1] - np.outer(first, first) / low)
        return float(0.5 * np.log(values[-1] / low)), slope
