"""Values of one robot over time: a line for each parameter, all of them together, weighted by the
covariance of every identification.

    x(t) = level + slope (t - mean t) + e,   e ~ (0, F C(t) F)

C(t) is the covariance (b, b) of the identification at t. F is diagonal: by how much more the values
scatter from day to day than their intervals say, found from all robots together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats

Array = NDArray[np.float64]

MIN_TIMES = 4
"""Different times that a line needs: two for the line, two for the scatter around it."""

MEDIAN_EFFICIENCY = 0.64
"""Of the median against the mean, 2/pi: degrees of freedom that are left of a scale by it."""

MIN_EIGENVALUE = 1e-10
"""Of a correlation matrix. A smaller one is raised to it, since rounding decides about the weight
of its direction; it is not left out, since a level is right with any weights of full rank only.
"""


@dataclass(frozen=True, eq=False)
class Series:
    """The identifications of one robot."""

    times: Array
    """(m,) days; nan where they are not known."""
    values: Array
    """(m, b)."""
    covariances: Array
    """(m, b, b)."""

    @property
    def has_line(self) -> bool:
        """Whether its times allow a line."""
        known = np.isfinite(self.times).all()
        return bool(known) and len(np.unique(self.times)) >= MIN_TIMES


@dataclass(frozen=True, eq=False)
class Line:
    """Level and slope of one robot."""

    level: Array
    """(b,) at the mean time."""
    level_variance: Array
    """(b,)."""
    slope: Array | None
    """(b,) per day; None where the times do not allow it."""
    slope_variance: Array | None
    ratio: Array
    """(b,) squared residuals over their variances, by degree of freedom; nan where there is
    none.
    """
    freedom: int
    """Observations less unknowns, of each parameter."""


def line(series: Series, factor: Array) -> Line:
    """Generalised least squares; `factor` (b,) is the diagonal of F.

    It is solved in the span of the times and the sigma of the parameters, by QR: the result is the
    same in all units.
    """
    m, b = series.values.shape
    own = np.sqrt(np.diagonal(series.covariances, 0, 1, 2))
    sigma = own * factor
    unit, first = sigma.min(axis=0), series.values[0]
    centred, span = _centred(series.times) if series.has_line else (np.zeros(m), 1.0)
    design = np.column_stack([np.ones(m), centred / span])[:, : 2 if series.has_line else 1]
    rows, right = [], []
    for at, x, s, covariance in zip(design, series.values, sigma, series.covariances, strict=True):
        weight = _whitening(covariance) * (unit / s)
        rows.append(np.kron(at, weight))
        right.append(weight @ ((x - first) / unit))
    q, r = np.linalg.qr(np.vstack(rows))
    root = linalg.solve_triangular(r, np.eye(len(r)))
    found = unit * (root @ (q.T @ np.concatenate(right))).reshape(-1, b)
    variances = unit**2 * np.sum(root**2, axis=1).reshape(-1, b)
    freedom = m - design.shape[1]
    squares = np.sum(((series.values - first - design @ found) / own) ** 2, axis=0)
    return Line(
        first + found[0],
        variances[0],
        found[1] / span if series.has_line else None,
        variances[1] / span**2 if series.has_line else None,
        squares / freedom if freedom > 0 else np.full(b, np.nan),
        freedom,
    )


def _centred(times: Array) -> tuple[Array, float]:
    """Times from their mean, and half of their span. The first time is subtracted before the mean
    is taken: seconds since 1970 are large.
    """
    since = times - times[0]
    return since - since.mean(), 0.5 * float(np.ptp(since))


def _whitening(covariance: Array) -> Array:
    """(b, b) whose product with an error, in units of its sigma, has the covariance 1."""
    sigma = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / sigma / sigma[:, None])
    return np.asarray((vectors / np.sqrt(np.maximum(values, MIN_EIGENVALUE))).T)


def lines(all_series: Sequence[Series]) -> tuple[list[Line], Array, float]:
    """The lines of all robots, F (b,), and the degrees of freedom of F.

    F is robust: the median over the robots of their squared residuals, over the median that honest
    intervals would give; never below 1.
    """
    b = all_series[0].values.shape[1]
    first = [line(each, np.ones(b)) for each in all_series]
    judged = [each for each in first if each.freedom > 0]
    if not judged:
        return first, np.ones(b), 0.0
    expected = np.array([stats.chi2.median(each.freedom) / each.freedom for each in judged])
    ratios = np.array([each.ratio for each in judged]) / expected[:, None]
    factor = np.sqrt(np.maximum(np.median(ratios, axis=0), 1.0))
    efficiency = MEDIAN_EFFICIENCY if len(judged) > 2 else 1.0
    freedom = efficiency * sum(each.freedom for each in judged)
    return [line(each, factor) for each in all_series], factor, freedom
