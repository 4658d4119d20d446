"""The body that two estimates of one robot differ by.

The robot with its load has the base parameters chi_l = chi_e + B phi, where chi_e are those of the
empty robot, phi (10,) the parameters of the load in the frame of the link that carries it, and B
the columns of that link in beta = matrix phi. Both estimates have errors, so that

    chi_l - chi_e = B phi + error,    Cov(error) = C_e + C_l,

is solved by generalised least squares. Friction and offsets, which no load changes, may have
changed with the temperature: then their equations are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.payload.body import physical_body

Array = NDArray[np.float64]

RANK = 1e-8
"""Singular value, over the largest, of the columns of B in standard deviations and of equal length,
below which a direction of phi is not seen.
"""

_HIDDEN = 1e-6
"""Part of a parameter in directions that are not seen, beyond which it is not identified."""

_SMALLEST_VARIANCE = 1e-12
"""Relative eigenvalue of the scaled covariance, below which it is rounding."""


@dataclass(frozen=True, eq=False)
class Gaussian:
    """What a record says about all base parameters."""

    values: Array
    """(b,)."""
    covariance: Array
    """(b, b) as printed, (18), which weights the equations; infinite where nothing is known."""
    corrected: Array
    """(b, b) for the colour of the residuals."""


@dataclass(frozen=True, eq=False)
class Difference:
    """The load between two estimates."""

    empty: Gaussian
    loaded: Gaussian
    B: Array
    """(b, 10)."""
    varies: NDArray[np.bool_]
    """(b,) parameters that may differ otherwise: friction and offsets, or none."""

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """Base parameters that are compared: known in both, and changed by nothing but the load."""
        variances = np.diag(self.empty.covariance) + np.diag(self.loaded.covariance)
        return np.flatnonzero(np.isfinite(variances) & (variances > 0) & ~self.varies)

    @cached_property
    def _whitening(self) -> Array:
        """(k, k) T with T (C_e + C_l) T' = 1."""
        at = np.ix_(self.used, self.used)
        total = self.empty.covariance[at] + self.loaded.covariance[at]
        sigma = np.sqrt(np.diag(total))
        values, vectors = np.linalg.eigh(total / np.outer(sigma, sigma))
        values = np.maximum(values, _SMALLEST_VARIANCE * values.max(initial=1e-300))
        return np.asarray((vectors / np.sqrt(values)).T / sigma)

    @cached_property
    def equations(self) -> tuple[Array, Array]:
        """R (k, 10) and target (k,) of R phi = target, in standard deviations."""
        change = (self.loaded.values - self.empty.values)[self.used]
        return self._whitening @ self.B[self.used], self._whitening @ change

    @cached_property
    def _solved(self) -> tuple[Array, NDArray[np.bool_]]:
        """(10, k) phi = G target, and (10,) which parameters are not identified."""
        R = self.equations[0]
        size = np.linalg.norm(R, axis=0)
        scale = np.where(size > 0, size, 1.0)
        U, singular, V = np.linalg.svd(R / scale, full_matrices=False)
        seen = singular > RANK * singular.max(initial=0.0)
        G = (V[seen].T / singular[seen]) @ U[:, seen].T / scale[:, None]
        within = np.linalg.norm(V[seen], axis=0)
        return G, np.sqrt(np.maximum(1.0 - within**2, 0.0)) > _HIDDEN

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """(10,) parameters that the motion does not identify."""
        return self._solved[1]

    @cached_property
    def plain(self) -> Array:
        """(10,) phi of least squares, of any signs; of least length where it is not seen."""
        return np.asarray(self._solved[0] @ self.equations[1])

    @cached_property
    def physical(self) -> Array:
        """(10,) phi of least squares among the parameters of physical bodies."""
        return physical_body(*self.equations, self.plain)

    @cached_property
    def gain(self) -> Array:
        """(10, b) phi = gain (chi_l - chi_e)."""
        found = np.zeros((10, self.B.shape[0]))
        found[:, self.used] = self._solved[0] @ self._whitening
        return found

    @cached_property
    def covariance(self) -> Array:
        """(10, 10) of phi, from both estimates, for the colour of their residuals; infinite where
        it is not identified.
        """
        at, G = np.ix_(self.used, self.used), self.gain[:, self.used]
        total = self.empty.corrected[at] + self.loaded.corrected[at]
        return np.asarray(G @ total @ G.T + np.diag(np.where(self.hidden, np.inf, 0.0)))
