"""Essential parameters: those that a simplified model needs to say the same (section VI.A, [31])."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from didim.identification.least_squares import solve
from didim.identification.system import LinearSystem

Array = NDArray[np.float64]

WORST = 10.0
"""Relative sigma, percent, that an essential parameter has at most, unless the F-test keeps it."""

CONFIDENCE = 0.95
"""Of the F-test that a removal must pass."""


@dataclass(frozen=True, eq=False)
class Essential:
    """What remains, and what leaving out the rest costs."""

    kept: NDArray[np.int64]
    """Indices of the remaining parameters, in their order."""
    removed: tuple[str, ...]
    """In the order in which they went."""
    residual_before: float
    """||Y - W chi|| / ||Y||, unweighted, with all parameters."""
    residual_after: float


def essential(system: LinearSystem, weights: Array) -> Essential:
    """Backward elimination: the parameter of largest relative sigma goes, as long as an F-test does not miss it.

    The test compares the sum of squares with and without the parameter. Its degrees of freedom are those of
    as many independent rows as the decimation filter leaves.
    """
    kept = np.arange(len(system.names))
    removed: list[str] = []
    independent = system.y.size / float(np.sum(system.correlation**2) * 2 - 1)
    full = solve(system, weights)
    chosen = system
    before = after = _residual(system, full.values)
    square = _square(system, weights, full.values)
    solution = full
    while kept.size > 1:
        freedom = max(independent - solution.rank, 1.0)
        sigma = np.sqrt(np.maximum(np.diag(solution.inverse), 0.0) * square / freedom)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(solution.confounded, np.inf, 100 * sigma / np.abs(solution.values))
        for worst in np.argsort(-np.nan_to_num(share, nan=np.inf), kind="stable"):
            if share[worst] <= WORST:
                return Essential(kept, tuple(removed), before, after)
            trial = chosen.only(np.delete(np.arange(kept.size), worst))
            reduced = solve(trial, weights)
            larger = _square(trial, weights, reduced.values)
            fisher = (larger - square) / (square / freedom)
            if fisher <= stats.f.ppf(CONFIDENCE, 1, freedom) or solution.confounded[worst]:
                removed.append(chosen.names[worst])
                kept = np.delete(kept, worst)
                chosen, solution, square = trial, reduced, larger
                after = _residual(chosen, solution.values)
                break
        else:
            break
    return Essential(kept, tuple(removed), before, after)


def _square(system: LinearSystem, weights: Array, values: Array) -> float:
    rho = weights * system.residual(values)
    return float(rho @ rho)


def _residual(system: LinearSystem, values: Array) -> float:
    return float(np.linalg.norm(system.residual(values)) / np.linalg.norm(system.y))
