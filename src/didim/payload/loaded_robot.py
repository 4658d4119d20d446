"""The robot with its load, from the empty robot, the load and a record with it.

Links: beta = chi_e + B phi. Friction and offsets are those of the loaded record, given these links:
beta_f = chi_l,f + S (beta - chi_l) with S the regression of the errors of friction on those of the
links. All of it is linear in both estimates, beta = A_e chi_e + A_l chi_l, which gives its
covariance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from didim.errors import InfeasibleError
from didim.payload.difference import Difference
from didim.results.estimate import Estimate
from didim.results.validation import residual_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Map:
    """beta = A_e chi_e + A_l chi_l, in directions that both know."""

    of_empty: Array
    of_loaded: Array
    friction: Array
    """(b, b) S, zero but in the rows of friction."""


def _map(found: Difference) -> _Map:
    b, used = found.B.shape[0], found.used
    BG = found.B @ found.gain
    S, varies = np.zeros((b, b)), np.flatnonzero(found.varies)
    C = np.where(np.isfinite(found.loaded.covariance), found.loaded.covariance, 0.0)
    if varies.size and used.size:
        within = C[np.ix_(used, used)]
        scale = np.sqrt(np.maximum(np.diag(within), 1e-300))
        inverse = np.linalg.pinv(within / np.outer(scale, scale), hermitian=True)
        S[np.ix_(varies, used)] = C[np.ix_(varies, used)] @ (inverse / np.outer(scale, scale))
    of_empty, of_loaded = np.eye(b) - BG, BG.copy()
    of_empty[varies] = S[varies] @ (np.eye(b) - BG)
    of_loaded[varies] = np.eye(b)[varies] + S[varies] @ (BG - np.eye(b))
    return _Map(of_empty, of_loaded, S)


def _moved(A: Array, C: Array) -> Array:
    """A C A', what is not known counted as known."""
    finite = np.where(np.isfinite(C), C, 0.0)
    return np.asarray(A @ finite @ A.T)


def robot_with_load(
    empty: Estimate, loaded: Estimate, found: Difference, phi: Array, link: int
) -> Estimate:
    """The estimate of the robot with the load phi (10,) at a link; `loaded` is what the record with
    the load gave by itself.
    """
    model, how = loaded.model, _map(found)
    beta = found.empty.values + found.B @ phi
    varies = found.varies
    corrected = how.friction @ (beta - found.loaded.values)
    beta = np.where(varies, found.loaded.values + corrected, beta)
    source = np.where(varies, np.diag(found.loaded.covariance), np.diag(found.empty.covariance))
    unknown = np.diag(np.where(np.isfinite(source), 0.0, np.inf))
    covariances = [
        _moved(how.of_empty, one) + _moved(how.of_loaded, two) + unknown
        for one, two in (
            (found.empty.covariance, found.loaded.covariance),
            (found.empty.corrected, found.loaded.corrected),
        )
    ]
    standard = _standard(empty, beta, varies, phi, link)
    if standard is not None:
        beta = model.matrix @ standard
    combined = replace(
        loaded,
        values=beta,
        covariance=covariances[0],
        corrected_covariance=covariances[1],
        standard=standard,
        at_border=empty.at_border,
        plain=None,
        validation=(),
        along_motion=(),
        fitted=(),
    )
    if not loaded.experiments:  # of a saved estimate
        return combined
    try:
        rows = [combined.predictor.compare(each) for each in loaded.experiments]
        total, by_joint = residual_of(rows)
    except InfeasibleError:
        total, by_joint = np.inf, np.full(model.robot.n, np.inf)
    return replace(combined, residual=total, residual_by_joint=by_joint)


def _standard(
    empty: Estimate, beta: Array, varies: NDArray[np.bool_], phi: Array, link: int
) -> Array | None:
    """(p,) the standard parameters that the empty robot was identified with, and the load; None
    where it was identified without.
    """
    if empty.standard is None:
        return None
    model, theta = empty.model, empty.standard.copy()
    theta[model.layout.link[link]] += phi
    for i in np.flatnonzero(varies):
        row = np.flatnonzero(model.matrix[i])
        if row.size == 1:
            own = beta[i] / model.matrix[i, row[0]]
            theta[row[0]] = max(own, 0.0) if model.frictional[i] else own
    return theta
