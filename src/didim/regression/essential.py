"""Essential parameters: those that a simplified model needs for the same fit (VI.A, [31])."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from didim.errors import InputError
from didim.regression.least_squares import least_squares
from didim.regression.system import LinearSystem

Array = NDArray[np.float64]

ESSENTIAL_CONFIDENCE = 0.95
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

    @property
    def note(self) -> str:
        """That, in a sentence."""
        count = len(self.removed) + self.kept.size
        return (
            f"{len(self.removed)} of {count} parameters are not essential and were set to zero; "
            f"the residual went from {100 * self.residual_before:.4g} % to "
            f"{100 * self.residual_after:.4g} %."
        )


def essential(system: LinearSystem, weights: Array) -> Essential:
    """Backward elimination: the parameter of largest relative sigma goes, as long as an F-test does
    not miss it.

    Leaving one parameter out raises the sum of squares by (value / sigma)^2 times the variance of
    the errors, so that the F statistic is the inverse square of its relative sigma. The degrees of
    freedom are those of as many independent rows as the decimation filter leaves.
    """
    kept, known = np.arange(len(system.names)), np.zeros(len(system.names), dtype=bool)
    if system.affine is not None:
        known = system.affine.known
        if not system.affine.is_selection:
            raise InputError(
                "essential: the fixed values tie several base parameters together, of which none "
                "can be left out alone. Fix base parameters instead, or leave essential out."
            )
    removed: list[str] = []
    independent = system.y.size / float(np.sum(system.correlation**2) * 2 - 1)
    chosen, solution = system, least_squares(system, weights)
    before = after = _residual(system, solution.values)
    while kept.size > 1:
        freedom = max(independent - solution.rank, 1.0)
        variance = np.diag(solution.inverse) * _square(chosen, weights, solution.values) / freedom
        fisher = np.where(
            solution.confounded, 0.0, solution.values**2 / np.maximum(variance, 1e-300)
        )
        fisher[known[kept]] = np.inf
        worst = int(fisher.argmin())
        if fisher[worst] > special.fdtri(1, freedom, ESSENTIAL_CONFIDENCE):
            break
        removed.append(chosen.names[worst])
        kept = np.delete(kept, worst)
        chosen = system.only(kept)
        solution = least_squares(chosen, weights)
        after = _residual(chosen, solution.values)
    return Essential(kept, tuple(removed), before, after)


def _square(system: LinearSystem, weights: Array, values: Array) -> float:
    rho = weights * system.residual(values)
    return float(rho @ rho)


def _residual(system: LinearSystem, values: Array) -> float:
    return float(np.linalg.norm(system.residual(values)) / np.linalg.norm(system.y))
