"""The estimate of the robot whose drive gains were identified with its parameters: its covariance
contains that of the gains.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.identification.identify import assemble
from didim.identification.methods.idim import IDIM
from didim.payload.gain_equations import GainEquations
from didim.payload.gain_likelihood import Iterate
from didim.regression.statistics import Statistics
from didim.results.estimate import Estimate
from didim.results.plausibility import border_notes
from didim.results.prediction import Predictor
from didim.results.request import Request
from didim.results.status import Status, Verdict
from didim.results.validation import residual_of

Array = NDArray[np.float64]


def empty_robot(
    equations: GainEquations,
    settings: IDIM,
    request: Request,
    found: Iterate,
    free: Iterate,
    figures: Statistics,
) -> Estimate:
    """The empty robot in N.m and N at an iterate, with the records of the request; `free` is the
    iterate over all parameters, `figures` are those of z and the logarithms of the gains.
    """
    model, b, n = equations.model, equations.b, equations.n
    turned = equations.basis[:b]
    z = turned.shape[1]

    def of_chi(covariance: Array) -> Array:
        inner = covariance[:z, :z]
        hidden = ~np.isfinite(np.diag(inner))
        known = turned @ np.where(np.isfinite(inner), inner, 0.0) @ turned.T
        unknown = np.any(turned[:, hidden] != 0, axis=1)
        return np.asarray(known + np.diag(np.where(unknown, np.inf, 0.0)))

    own = replace(
        figures,
        covariance=of_chi(figures.covariance),
        corrected=of_chi(figures.corrected),
        coloured=tuple(j for j in figures.coloured if j < n),
    )
    chi, plain, is_inside = found.x[:b], free.x[:b], found.theta is not None

    def left(values: Array) -> tuple[float, Array]:
        predictor = Predictor(model, values, None, equations.preprocessing)
        return residual_of([predictor.compare(each) for each in request.experiments])

    residual = left(chi)
    notes: list[str] = []
    at_border: tuple[str, ...] = ()
    if is_inside:
        sigma = np.sqrt(np.maximum(np.diag(own.corrected), 0.0))
        at_border, notes = border_notes(model, plain, chi, sigma, left(plain)[0], residual[0])
    return assemble(
        request,
        "IDIM",
        settings,
        Verdict(Status.CONVERGED, "Maximum likelihood, together with the drive gains."),
        equations.preprocessing,
        chi,
        own,
        residual,
        notes=notes,
        standard=found.theta,
        plain=plain if is_inside else None,
        at_border=at_border,
    )
