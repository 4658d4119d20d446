"""Score tests: would the residual be smaller if the model had more columns?

With the columns X of what was estimated, the columns Z of what the model may lack, and the residual
rho, all weighted,

    Z_ = Z - X X+ Z,    s = Z_' rho,    Cov(s) = Z_' R Z_,

where R is the autocovariance of the errors, as intervals use it. If nothing is missing,
s' Cov(s)+ s is chi-square with as many degrees of freedom as Z_ has rank. The values that the
columns would have are (Z_' Z_)+ s. The residual that R is estimated from still holds what is
missing: its variance is taken without what the tested columns explain, which for white errors is
the F-test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from didim.regression.least_squares import RANK
from didim.regression.statistics import error_colours
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

SEEN = 1e-3
"""Part of a column that what was estimated must leave of it, for the column to be tested."""

ROUNDING = 1e-12
"""Fraction of the squared residual below which what is left is rounding."""

_COLUMNS = 16
"""Columns that are projected at once."""

GROUP_RANK = 1e-6
"""Relative eigenvalue of Cov(s), scaled, below which columns of a group say the same."""


@dataclass(frozen=True, eq=False)
class Score:
    """The test of one suspect, or of a group of them."""

    values: Array
    """(k,) of its columns, if it alone were added."""
    sigma: Array
    """(k,) their standard deviations, for the colour of the residuals."""
    statistic: float
    """F: over its rank, with the variance that it leaves."""
    rank: int
    """Degrees of freedom; 0: the record does not see it."""
    freedom: int
    """Of the residual that it leaves."""
    share: float
    """Fraction of the weighted squared residual that it would remove."""

    @property
    def p_value(self) -> float:
        """How often a statistic as large is seen where nothing is missing."""
        if not self.rank:
            return 1.0
        return float(special.fdtrc(self.rank, self.freedom, self.statistic))


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """The weighted residual and columns Z (r, K), without what was estimated, turned into the
    space that they span: lengths and products are the same, and long records need no room.
    """

    rho: Array
    """(k,), k at most K + 1."""
    Z: Array
    """(k, K)."""
    rows: int
    """r."""
    covariance: Array
    """(K, K) of Z' rho."""
    seen: NDArray[np.bool_]
    """(K,) columns that what was estimated does not reproduce."""
    freedom: int
    """Rows less the rank of what was estimated."""
    onto: Array
    """(b, K) X+ Z: what a unit of each column moves the parameters by."""
    step: Array
    """(b,) X+ y: what is left of the step to the least squares solution without Z."""
    _known: dict[tuple[int, ...], Score] = field(init=False, repr=False, default_factory=dict)

    @property
    def size(self) -> float:
        """Weighted squared residual."""
        return float(self.rho @ self.rho)

    @cached_property
    def scores(self) -> Array:
        """(K,) Z' rho."""
        return np.asarray(self.Z.T @ self.rho)

    @cached_property
    def squares(self) -> Array:
        """(K, K) Z' Z."""
        return np.asarray(self.Z.T @ self.Z)

    def of(self, columns: Sequence[int]) -> Score:
        """The test of some columns together."""
        asked = tuple(columns)
        if asked not in self._known:
            self._known[asked] = self._test(asked)
        return self._known[asked]

    def _test(self, columns: tuple[int, ...]) -> Score:
        chosen = np.array([k for k in columns if self.seen[k]], dtype=np.int64)
        values, sigma = np.zeros(len(columns)), np.full(len(columns), np.inf)
        if not chosen.size:
            return Score(values, sigma, 0.0, 0, 1, 0.0)
        s, both = self.scores[chosen], np.ix_(chosen, chosen)
        C = self.covariance[both]
        inverse, rank = _inverse(C)
        squares, _ = _inverse(self.squares[both])
        chi_square = float(s @ inverse @ s)
        at = [k for k, column in enumerate(columns) if self.seen[column]]
        values[at] = squares @ s
        share = min(max(float(s @ squares @ s) / max(self.size, 1e-300), 0.0), 1.0)
        freedom = max(self.freedom - rank, 1)
        lost = self.freedom * float(np.sum(squares * C)) / max(self.size, 1e-300)
        left = max(1.0 - share, ROUNDING) * self.freedom / max(self.freedom - lost, freedom / 2)
        sigma[at] = np.sqrt(left * np.maximum(np.diag(squares @ C @ squares), 0.0))
        statistic = chi_square / (left * max(rank, 1))
        return Score(values, sigma, statistic, rank, freedom, share)

    def without(self, columns: Sequence[int]) -> ScoreTests:
        """The tests of what is left once these columns were added to the model."""
        chosen = [k for k in columns if self.seen[k]]
        if not chosen:
            return self
        Q, R = linalg.qr(self.Z[:, chosen], mode="economic")
        before = np.linalg.norm(self.Z, axis=0)
        weights = Q.T @ self.Z  # Z_ = Z - Q Q' Z, and so its scores and their covariance
        Z, rho = self.Z - Q @ weights, self.rho - Q @ (Q.T @ self.rho)
        T = np.eye(self.Z.shape[1])
        T[chosen, :] -= linalg.lstsq(R, weights)[0]
        seen = self.seen & (np.linalg.norm(Z, axis=0) > SEEN * np.maximum(before, 1e-300))
        seen[chosen] = False
        kept = max(1.0 - self.of(chosen).share, ROUNDING)
        freedom = max(self.freedom - len(chosen), 1)
        variance = kept * self.freedom / freedom
        covariance = variance * (T.T @ self.covariance @ T)
        return replace(self, rho=rho, Z=Z, covariance=covariance, seen=seen, freedom=freedom)

    def moved(self, columns: Sequence[int]) -> Array:
        """(b,) X+ (y - Z theta): what least squares with these columns would move the parameters
        by.
        """
        chosen = list(columns)
        return np.asarray(self.step - self.onto[:, chosen] @ self.of(chosen).values)


def burst_covariance(system: LinearSystem, Z: Array, rho: Array) -> Array:
    """(K, K) covariance of the scores Z' rho from their own summands z_t (rho_t - z_t theta), as
    Newey and West do: mean products of their sums over a window of rows.
    """
    theta = (Z.T @ rho) / np.maximum(np.sum(Z**2, axis=0), 1e-300)
    summands, total = Z * (rho[:, None] - Z * theta), np.zeros((Z.shape[1],) * 2)
    for series in np.unique(system.series):
        for j in np.unique(system.joint):
            rows = summands[(system.joint == j) & (system.series == series)]
            width = min(max(int(4 * len(rows) ** (1 / 3)), 1), max(len(rows), 1))
            sums = np.cumsum(np.pad(rows, ((width, width - 1), (0, 0))), axis=0)
            window = sums[width:] - sums[:-width]
            total += window.T @ window / width
    return total


def _inverse(A: Array) -> tuple[Array, int]:
    """The inverse of a symmetric matrix (k, k) that is not negative, and its rank, on the scale of
    its diagonal.
    """
    scale = np.sqrt(np.diag(A))
    scale = np.where(scale > 0, scale, 1.0)
    size, V = np.linalg.eigh(A / np.outer(scale, scale))
    kept = np.abs(size) > GROUP_RANK * np.abs(size).max()
    V = V[:, kept] / scale[:, None]
    return (V / size[kept]) @ V.T, int(np.sum(kept))


def score_tests(system: LinearSystem, Z: Array, weights: Array, bursts: bool = False) -> ScoreTests:
    """The tests of the columns Z (r, K), not weighted, on the linearised fit rho = W step + rest
    that `system` is; `weights` (r,) are those of its rows.

    `bursts`: errors may come in bursts, which no autocovariance describes. That of the scores' own
    summands is then added to the covariance.
    """
    free = system.free
    X, both = np.empty(free.W.shape, order="F"), np.empty((len(Z), Z.shape[1] + 1), order="F")
    left, y = both[:, :-1], free.y * weights  # LAPACK's order: no copies
    for given, weighted in ((free.W, X), (Z, left)):
        np.multiply(given, weights[:, None], out=weighted)
    norm = np.linalg.norm(X, axis=0)
    norm = np.where(norm > 0, norm, 1.0)
    X /= norm
    Q, R, order = linalg.qr(X, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
    del X
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > RANK * size.max(initial=0.0)))
    Q = Q[:, :rank]
    along, step = Q.T @ left, Q.T @ y
    length, rho = np.linalg.norm(left, axis=0), y - Q @ step
    for part in np.array_split(np.arange(left.shape[1]), max(left.shape[1] // _COLUMNS, 1)):
        left[:, part] -= Q @ along[:, part]
    seen = np.linalg.norm(left, axis=0) > SEEN * np.maximum(length, 1e-300)
    left[:, ~seen] = 0.0
    leverage = np.einsum("ij,ij->i", Q, Q)
    colours = error_colours(free, leverage, rho).less(Q)
    onto = np.zeros((free.W.shape[1], along.shape[1] + 1))
    onto[order[:rank]] = linalg.solve_triangular(R[:rank, :rank], np.column_stack([along, step]))
    onto /= norm[:, None]
    if system.affine is not None:
        onto = system.affine.basis @ onto
    del Q
    covariance, freedom = colours.squares(left), max(rho.size - rank, 1)
    if bursts:
        covariance = covariance + burst_covariance(system, left, rho)
    both[:, -1] = rho
    turned = linalg.qr(both, mode="r", overwrite_a=True, check_finite=False)[0]
    turned = turned[: turned.shape[1]]
    rest = covariance, seen, freedom, onto[:, :-1], onto[:, -1]
    return ScoreTests(turned[:, -1], turned[:, :-1], rho.size, *rest)
