"""From the end of an identification to its `Estimate`: statistics, predictions, notes, origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.regression.statistics import Statistics
from didim.regression.torque_factors import TorqueFactors
from didim.results.doubts import worse_records
from didim.results.estimate import Estimate
from didim.results.formatting import held_joints
from didim.results.prediction import Predictor, Preprocessing, every_parameter
from didim.results.provenance import hashed, provenance
from didim.results.request import Request
from didim.results.scale_notes import estimate_scales
from didim.results.status import Verdict
from didim.simulation.records import record_notes, regular_records

Array = NDArray[np.float64]

ROUNDING = 1e-9
"""Residual below which errors are those of the computer."""


def assembled(
    request: Request,
    method: str,
    settings: object,
    verdict: Verdict,
    preprocessing: Preprocessing,
    values: Array,
    figures: Statistics | None = None,
    residual: tuple[float, Array] | None = None,
    names: tuple[str, ...] | None = None,
    controller: Controller | None = None,
    notes: Sequence[str] = (),
    output: str = "torque",
    factors: TorqueFactors | None = None,
    **more: Any,
) -> Estimate:
    """The estimate with its statistics, predictions of the held-out records, notes and provenance.

    Without `figures` nothing was identified, and `values` are those of the start.
    """
    model, held_out = request.model, request.held_out
    names, b, n = names or model.parameter_names, values.size, model.robot.n
    unknown = np.diag(np.full(b, np.inf))
    total, by_joint = residual or (np.inf, np.full(n, np.inf))
    parameters = every_parameter(model, names, values)
    predictor = Predictor(model, parameters, controller, preprocessing)
    tried = [predictor.try_on(each, request.experiments) for each in held_out]
    found = tuple(validation for validation, _ in tried)
    doubts = worse_records(model, found, total, output)
    again, along = ((), ()) if figures is None else predictor.fitted(request.experiments)
    coloured = () if figures is None or total <= ROUNDING else figures.coloured
    told, held = set(notes), (*held_joints(model.robot), *model.known_notes)
    others = record_notes(regular_records(model, held_out))
    tried_notes = [each for each in others if each not in told]
    seen = model, request.experiments, names, values
    scales = () if figures is None else estimate_scales(*seen, figures.corrected[:b, :b], factors)
    origin = {**provenance(settings, request.experiments), **request.origin}
    return Estimate(
        model=model,
        method=method,
        names=names,
        values=values,
        covariance=unknown if figures is None else figures.covariance[:b, :b],
        corrected_covariance=unknown if figures is None else figures.corrected[:b, :b],
        residual=total,
        residual_by_joint=by_joint,
        status=verdict.status,
        message=verdict.message,
        preprocessing=preprocessing,
        rows=0 if figures is None else figures.rows,
        freedom=0 if figures is None else figures.freedom,
        condition=np.inf if figures is None else figures.condition,
        scaled_condition=np.inf if figures is None else figures.scaled_condition,
        coloured=tuple(sorted({j % n for j in coloured})),
        controller=controller,
        notes=(*notes, *tried_notes, *verdict.notes, *doubts, *scales, *held, *request.notes),
        unidentified=verdict.unidentified,
        output=output,
        validation=found,
        fitted=again,
        along_motion=along,
        predictions={each.record: rows for each, rows in tried if rows is not None},
        experiments=request.experiments,
        held_out=held_out,
        provenance={**origin, "held_out": hashed(held_out)} if held_out else origin,
        **more,
    )
