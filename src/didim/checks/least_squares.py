"""Least squares of one joint's equations, for checks: values, and a covariance for the colour of
the residuals and for directions that the equations do not see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIN_SINGULAR_VALUE = 1e-6
"""Of equations with columns of equal length, over the largest, below which a direction is not
seen.
"""

UNSEEN_VARIANCE = 1e6
"""Of a direction that is not seen, over the square of the largest value."""


@dataclass(frozen=True, eq=False)
class JointFit:
    """Parameters of one joint's equations."""

    values: Array
    """(b,) zero where a parameter does not act on the joint."""
    covariance: Array
    """(b, b)."""
    residual: Array
    """(K,)."""


def joint_fit(W: Array, y: Array) -> JointFit:
    """Solve W (K, b) x = y (K,); columns of zeros stay at zero."""
    size = np.linalg.norm(W, axis=0)
    used = np.flatnonzero(size > 0)
    scaled = W[:, used] / size[used]
    U, singular, V = np.linalg.svd(scaled, full_matrices=False)
    seen = singular > MIN_SINGULAR_VALUE * singular.max(initial=0.0)
    x = V[seen].T @ (U[:, seen].T @ y / singular[seen])
    rho = y - scaled @ x
    variance = float(rho @ rho) / max(y.size - int(seen.sum()), 1) * correlated(rho)
    unseen = UNSEEN_VARIANCE * float(np.max(x**2, initial=0.0))
    spread = np.where(seen, variance / np.where(seen, singular, 1.0) ** 2, unseen)
    values, covariance = np.zeros(W.shape[1]), np.zeros((W.shape[1],) * 2)
    values[used] = x / size[used]
    covariance[np.ix_(used, used)] = (V.T * spread) @ V / np.outer(size[used], size[used])
    return JointFit(values, covariance, rho)


def correlated(rho: Array) -> float:
    """How many residuals (K,) count as one, by their autocorrelation up to where it is negative."""
    power = np.abs(np.fft.rfft(rho, 2 * rho.size)) ** 2
    found = np.fft.irfft(power)[: rho.size]
    if not found[0] > 0:
        return 1.0
    end = int(np.argmax(found < 0)) or rho.size
    return float(2 * found[:end].sum() / found[0] - 1)
