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
from scipy import stats

Array = NDArray[np.float64]

MIN_TIMES = 4
"""Different times that a line needs: two for the line, two for the scatter around it."""

MEDIAN_EFFICIENCY = 0.64
"""Of the median against the mean, 2/pi: degrees of freedom that are left of a scale by it."""


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
    """Generalised least squares; `factor` (b,) is the diagonal of F."""
    m, b = series.values.shape
    scaled = series.covariances * factor[:, None] * factor
    unknowns = 2 if series.has_line else 1
    centred = series.times - series.times.mean() if unknowns == 2 else np.zeros(m)
    normal = np.zeros((unknowns * b, unknowns * b))
    right = np.zeros(unknowns * b)
    for at, x, covariance in zip(centred, series.values, scaled, strict=True):
        weight = np.linalg.pinv(covariance, hermitian=True)
        design = np.array([1.0, at][:unknowns])
        normal += np.kron(np.outer(design, design), weight)
        right += np.kron(design, weight @ x)
    inverse = np.linalg.pinv(normal, hermitian=True)
    found = (inverse @ right).reshape(unknowns, b)
    variances = np.diag(inverse).reshape(unknowns, b)
    fitted = found[0] + (np.outer(centred, found[1]) if unknowns == 2 else 0.0)
    own = np.array([np.diag(each) for each in series.covariances])
    freedom = m - unknowns
    squares = np.sum((series.values - fitted) ** 2 / own, axis=0)
    ratio = squares / freedom if freedom > 0 else np.full(b, np.nan)
    has_slope = unknowns == 2
    return Line(
        found[0],
        variances[0],
        found[1] if has_slope else None,
        variances[1] if has_slope else None,
        ratio,
        freedom,
    )


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
