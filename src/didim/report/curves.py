"""The data of the pictures, for the HTML report and for matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.results.estimate import Estimate
from didim.results.history import Iteration
from didim.results.validation import ComparedRows
from didim.signals.experiment import Experiment, measured_torque

Array = NDArray[np.float64]

MAX_LAGS = 40
"""Rows over which the autocorrelation is shown."""


@dataclass(frozen=True, eq=False)
class Torques:
    """Measured and estimated torque of a record, on the samples that a fit would use: views, not
    copies.
    """

    t: Array
    """(K,) s."""
    measured: Array
    """(K, n) N m or N."""
    estimated: Array
    """(K, n)."""


def torque_curves(
    estimate: Estimate, experiment: Experiment, torque: Array | None = None
) -> Torques:
    """Measured and estimated torques; what the fit leaves out is left out: edges of the filter,
    the transient of a simulation.

    `torque` (N, n) is the prediction, where it was computed before.
    """
    t, found = experiment.t, estimate.predict(experiment) if torque is None else torque
    edge = min(estimate.preprocessing.edge(t), t.size // 4)
    begin = t[edge] + estimate.preprocessing.transient
    shown = slice(int(np.searchsorted(t, begin)), t.size - edge)
    if t[shown].size < 2:
        raise InputError(
            f"Record {experiment.name!r} is too short to show: {t[-1] - t[0]:.3g} s, and "
            f"{estimate.preprocessing.transient:.3g} s of "
            "them are the transient of the simulated loop."
        )
    return Torques(t[shown], measured_torque(experiment, "this picture")[shown], found[shown])


def normalised_residuals(rows: Sequence[ComparedRows], joint: int) -> Array:
    """Residuals of one joint on the rows of all records, over their root mean square."""
    _refuse_none(rows)
    residual = np.concatenate([(each.y - each.found)[each.used[:, joint], joint] for each in rows])
    size = float(np.sqrt(np.mean(residual**2))) if residual.size else 0.0
    return residual / size if size > 0 else residual


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


def histogram(residual: Array, reach: float = 4.5, bins: int = 36) -> Histogram:
    """The distribution of normalised residuals."""
    edges, fine = np.linspace(-reach, reach, bins + 1), np.linspace(-reach, reach, 181)
    count, _ = np.histogram(np.clip(residual, -reach, reach), edges)
    width = float(edges[1] - edges[0])
    density = count / (max(int(count.sum()), 1) * width)
    normal = np.exp(-(fine**2) / 2.0) / np.sqrt(2.0 * np.pi)
    return Histogram(0.5 * (edges[1:] + edges[:-1]), width, density, fine, normal)


def autocorrelation(
    rows: Sequence[ComparedRows], joint: int, lags: int = MAX_LAGS
) -> tuple[Array, float]:
    """Autocorrelation (L + 1,) of one joint's residuals over the lag in rows, and the band that
    white noise stays in, 95 %.

    Pairs never reach across a seam between records, nor over rows that were left out. Records whose
    rows are not as far apart as those of the first are left out.
    """
    _refuse_none(rows)
    rows = [each for each in rows if np.isclose(each.step, rows[0].step, rtol=1e-3)]
    lags = min(lags, max(len(each.y) for each in rows) - 1)
    total, pairs = np.zeros(lags + 1), np.zeros(lags + 1)
    for each in rows:
        used = each.used[:, joint]
        residual = np.where(used, (each.y - each.found)[:, joint], 0.0)
        for lag in range(min(lags, len(residual) - 1) + 1):
            total[lag] += residual[: len(residual) - lag] @ residual[lag:]
            pairs[lag] += np.sum(used[: len(used) - lag] & used[lag:])
    if not total[0] > 0:
        return np.eye(1, lags + 1)[0], 1.0
    return (total / np.maximum(pairs, 1.0)) / (total[0] / pairs[0]), float(1.96 / np.sqrt(pairs[0]))


def _refuse_none(rows: Sequence[ComparedRows]) -> None:
    if not rows:
        raise InputError("There is no record to show; give at least one experiment.")


def correlation(estimate: Estimate) -> Array:
    """(b, b) correlation of the estimated parameters, from the corrected covariance; 0 where
    nothing is known.
    """
    covariance, sigma = estimate.corrected_covariance, estimate.corrected_sigma
    known = np.isfinite(sigma) & (sigma > 0)
    scale = np.where(known, sigma, 1.0)
    found = np.where(np.outer(known, known), covariance, 0.0) / np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    return np.clip(found, -1.0, 1.0)


def strongest(estimate: Estimate, count: int = 10) -> list[tuple[str, str, float]]:
    """The pairs of parameters that are hardest to identify separately: names and correlation, the
    strongest first.
    """
    values = correlation(estimate)
    i, j = np.triu_indices(len(values), 1)
    order = [
        k
        for k in np.argsort(-np.abs(values[i, j]), kind="stable")[:count]
        if values[i[k], j[k]] != 0
    ]
    return [(estimate.names[i[k]], estimate.names[j[k]], float(values[i[k], j[k]])) for k in order]


def settled(history: Sequence[Iteration], scale: Array | None = None) -> Array:
    """(K, b) parameters over the iterations, in units of `scale`, default the size of their last
    value (1 where it is 0).
    """
    values = np.array([step.parameters for step in iterated(history)])
    size = np.abs(values[-1] if scale is None else scale)
    return values / np.where(size > 0, size, 1.0)


def iterated(history: Sequence[Iteration]) -> Sequence[Iteration]:
    """The history, refused where there is none."""
    if not history:
        raise InputError("This method does not iterate: there is no convergence to show.")
    return history
