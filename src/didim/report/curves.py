"""The numbers behind the pictures, for the HTML report and for matplotlib alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from didim.errors import InputError
from didim.results.estimate import Estimate
from didim.results.prediction import ComparedRows
from didim.signals.experiment import Experiment

Array = NDArray[np.float64]

LAGS = 40
"""Rows over which the autocorrelation is shown."""


@dataclass(frozen=True, eq=False)
class Torques:
    """Measured and estimated torque of a record, on the samples that a fit would use."""

    t: Array
    """(K,) s."""
    measured: Array
    """(K, n) N m or N."""
    estimated: Array
    """(K, n)."""

    @property
    def residual(self) -> Array:
        """(K, n) measured - estimated."""
        return self.measured - self.estimated


def torque_curves(estimate: Estimate, experiment: Experiment, torque: Array | None = None) -> Torques:
    """Measured and estimated torques; what the fit leaves out is left out: spoilt edges, the transient of a simulation.

    `torque` (N, n) is the prediction, where it was computed before.
    """
    t, found = np.asarray(experiment.t), estimate.predict(experiment) if torque is None else torque
    edge = min(estimate.recipe.edge(t), t.size // 4)
    shown = (t >= t[edge] + estimate.recipe.transient) & (t <= t[-1 - edge])
    return Torques(t[shown], np.asarray(experiment.tau)[shown], found[shown])


def normalised_residuals(rows: Sequence[ComparedRows], joint: int) -> Array:
    """Residuals of one joint on the rows of all records, over their standard deviation."""
    left = np.concatenate([(each.y - each.found)[each.used[:, joint], joint] for each in rows])
    size = float(np.sqrt(np.mean(left**2))) if left.size else 0.0
    return np.asarray(left / size) if size > 0 else left


@dataclass(frozen=True, eq=False)
class Histogram:
    """Density of residuals in bins, beside that of the normal distribution."""

    middles: Array
    """Of the bins, in standard deviations; the outermost hold what lies beyond."""
    width: float
    density: Array
    fine: Array
    normal: Array
    """Density of the normal distribution at `fine`."""


def histogram(left: Array, reach: float = 4.5, bins: int = 36) -> Histogram:
    """The distribution of normalised residuals."""
    edges, fine = np.linspace(-reach, reach, bins + 1), np.linspace(-reach, reach, 181)
    count, _ = np.histogram(np.clip(left, -reach, reach), edges)
    width = float(edges[1] - edges[0])
    density = count / (max(int(count.sum()), 1) * width)
    return Histogram(0.5 * (edges[1:] + edges[:-1]), width, density, fine, stats.norm.pdf(fine))


def autocorrelation(rows: Sequence[ComparedRows], joint: int, lags: int = LAGS) -> tuple[Array, float]:
    """Autocorrelation (L + 1,) of one joint's residuals over the lag in rows, and the band that white noise stays in, 95 %.

    Pairs never reach across a seam between records, nor over rows that were left out.
    """
    lags = min(lags, max(len(each.y) for each in rows) - 1)
    total, pairs = np.zeros(lags + 1), np.zeros(lags + 1)
    for each in rows:
        used = each.used[:, joint]
        left = np.where(used, (each.y - each.found)[:, joint], 0.0)
        for lag in range(min(lags, len(left) - 1) + 1):
            total[lag] += left[: len(left) - lag] @ left[lag:]
            pairs[lag] += np.sum(used[: len(used) - lag] & used[lag:])
    if not total[0] > 0:
        return np.eye(1, lags + 1)[0], 1.0
    return (total / np.maximum(pairs, 1.0)) / (total[0] / pairs[0]), float(1.96 / np.sqrt(pairs[0]))


def correlation(estimate: Estimate) -> Array:
    """(b, b) correlation of the estimated parameters, from the corrected covariance; 0 where nothing is known."""
    covariance, sigma = estimate.corrected_covariance, estimate.corrected_sigma
    known = np.isfinite(sigma) & (sigma > 0)
    scale = np.where(known, sigma, 1.0)
    found = np.where(np.outer(known, known), covariance, 0.0) / np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    return np.clip(found, -1.0, 1.0)


def strongest(estimate: Estimate, count: int = 10) -> list[tuple[str, str, float]]:
    """The pairs of parameters that are hardest to tell apart: names and correlation, the strongest first."""
    found = np.abs(np.triu(correlation(estimate), 1))
    order = np.argsort(-found, axis=None, kind="stable")[:count]
    pairs = zip(*np.unravel_index(order, found.shape), strict=True)
    values = correlation(estimate)
    return [(estimate.names[i], estimate.names[j], float(values[i, j])) for i, j in pairs if i < j]


def settled(estimate: Estimate) -> Array:
    """(K, b) parameters over the iterations, each over the size of its last value; over 1 where that is zero."""
    if not estimate.history:
        raise InputError("This method does not iterate: there is no convergence to show.")
    values = np.array([step.parameters for step in estimate.history])
    size = np.abs(values[-1])
    return np.asarray(values / np.where(size > 0, size, 1.0))
