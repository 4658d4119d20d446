"""`identify`: a model, records and a method in; an `Estimate`, built once and complete, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, shortened
from didim.regression.statistics import Statistics
from didim.results.assembly import assembled
from didim.results.estimate import Estimate
from didim.results.lack_of_fit import (
    NOT_TESTED,
    SMALLEST_POSITION_RESIDUAL,
    SMALLEST_RESIDUAL,
    LackOfFit,
)
from didim.results.prediction import Preprocessing
from didim.results.request import Progress, Request
from didim.results.status import Verdict
from didim.signals.experiment import Experiment, listed_records
from didim.simulation.compiling import compile_method_ahead
from didim.structure.blocks import are_long
from didim.structure.estimate_tests import Fit, estimate_tests
from didim.structure.lack_of_fit import lack_of_fit
from didim.threads import one_blas_thread, side_by_side
from didim.validation import callback

Array = NDArray[np.float64]


class Method(Protocol):
    """What `identify` asks of a method."""

    def run(self, request: Request) -> Estimate:
        """Identify the base parameters of the request's model."""
        ...

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that the method cannot use, before any work."""
        ...


def identify(
    model: DynamicModel | BaseModel,
    experiment: Experiment | Sequence[Experiment],
    method: Method,
    validation: Experiment | Sequence[Experiment] | None = None,
    progress: Progress | None = None,
    *,
    origin: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> Estimate:
    """Identify the base parameters of a robot.

    Parameters
    ----------
    model
        The dynamic model; its base parameters are estimated.
    experiment
        One record, or a list of records that are used together.
    method
        `didim.IDIM(...)`, `didim.IV(...)`, `didim.DIDIM(...)` or `didim.OutputError(...)`.
    validation
        Records that the fit does not see; the estimate keeps how well it predicts them.
    progress
        Called with the fraction done, 0 to 1; may return False to stop.
    origin
        Further provenance, such as the study file.
    notes
        Further notes for the reader of the estimate.
    """
    if not isinstance(model, DynamicModel | BaseModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    if isinstance(method, type) or not callable(getattr(method, "run", None)):
        raise InputError(
            "method must be a method with its settings, such as didim.IDIM(), found "
            f"{shortened(method)}."
        )
    callback(progress)
    records = listed_records(experiment, "experiment")
    others = () if validation is None else listed_records(validation, "validation")
    base = model if isinstance(model, BaseModel) else model.base
    if others:
        method.ready(base, others)
    request = Request(base, records, others, progress, dict(origin or {}), tuple(notes))
    compile_method_ahead(method)
    with one_blas_thread():
        return method.run(request)


def assemble(
    request: Request,
    method: str,
    settings: Any,
    verdict: Verdict,
    preprocessing: Preprocessing,
    values: Array,
    figures: Statistics | None = None,
    residual: tuple[float, Array] | None = None,
    fit: Fit | None = None,
    **more: Any,
) -> Estimate:
    """The estimate of `results/assembly.py`, with the tests that end an identification; those of
    the residual need the equations `fit`. Residual and lack of fit are tested side by side, on a
    thread each: kernels and LAPACK release the interpreter. Long records have room for one of them.
    """
    end = verdict, preprocessing, values, figures, residual
    estimate = assembled(request, method, settings, *end, **more)
    if figures is None or request.is_first_stage:
        return estimate
    if fit is None:
        return replace(estimate, lack=_lack(settings, estimate, fit))
    if are_long(fit.records):
        tests = estimate_tests(request.model, fit, estimate.residual)
        return replace(estimate, lack=_lack(settings, estimate, fit), tests=tests)
    lack, tests = side_by_side(
        lambda: _lack(settings, estimate, fit),
        lambda: estimate_tests(request.model, fit, estimate.residual),
    )
    return replace(estimate, lack=lack, tests=tests)


def _lack(settings: Any, estimate: Estimate, fit: Fit | None) -> LackOfFit:
    """What the model lacks, unless the method's settings leave the tests out."""
    if not settings.lack_of_fit:
        return NOT_TESTED
    of_torque = estimate.output == "torque"
    if estimate.residual <= (SMALLEST_RESIDUAL if of_torque else SMALLEST_POSITION_RESIDUAL):
        reason = f"what is left of the {estimate.output} is next to nothing"
        return LackOfFit(reason=reason, negligible=True)
    gains, motions = tuple(estimate.gains), () if fit is None else fit.motions
    given = estimate.predictor, estimate.experiments, estimate.names
    return lack_of_fit(*given, gains, motions)
