"""`identify`: a model, records and a method in; an `Estimate`, built once and complete, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, shortened
from didim.regression.statistics import Statistics
from didim.regression.torque_factors import TorqueFactors
from didim.results.doubts import worse_records
from didim.results.estimate import Estimate
from didim.results.formatting import held_joints
from didim.results.lack_of_fit import NOT_TESTED, SMALLEST_RESIDUAL, LackOfFit
from didim.results.prediction import Predictor, Preprocessing, every_parameter
from didim.results.provenance import hashed, provenance
from didim.results.scale_notes import estimate_scales
from didim.results.status import Verdict
from didim.signals.experiment import Experiment
from didim.simulation.records import check_start, record_notes, regular_records
from didim.structure.lack_of_fit import lack_of_fit
from didim.threads import one_blas_thread
from didim.validation import flag, real, whole

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

ROUNDING = 1e-9
"""Residual below which errors are those of the computer."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be identified."""

    model: BaseModel
    experiments: tuple[Experiment, ...]
    held_out: tuple[Experiment, ...] = ()
    """Records that the fit does not see."""
    progress: Progress | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Provenance that the caller adds: the study, its files, the command."""
    notes: tuple[str, ...] = ()
    """Notes that the caller adds."""
    is_first_stage: bool = False
    """Whether another stage follows, which makes the tests."""

    def first_stage(self) -> Request:
        """The same for a first stage."""
        return replace(self, held_out=(), notes=(), is_first_stage=True)

    def tell(self, fraction: float) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(fraction)

    def between(self, start: float, end: float) -> Request:
        """The same for one of several stages, whose progress goes from `start` to `end`."""
        progress = self.progress
        if progress is None:
            return self
        return replace(self, progress=lambda done: progress(start + (end - start) * done))


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
        `didim.IDIM(...)`, `didim.DIDIM(...)` or `didim.OutputError(...)`.
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
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress must be a function of the fraction done, found {shortened(progress)}."
        )
    records = listed_records(experiment, "experiment")
    others = () if validation is None else listed_records(validation, "validation")
    base = model if isinstance(model, BaseModel) else model.base
    if others:
        method.ready(base, others)
    request = Request(base, records, others, progress, dict(origin or {}), tuple(notes))
    with one_blas_thread():
        return method.run(request)


def check_settings(settings: Any, where: str) -> None:
    """Convert the settings that all methods with simulations share, or refuse them."""
    if settings.transient is not None:
        transient = real(settings.transient, f"{where}: transient, in s,", least=0.0)
        object.__setattr__(settings, "transient", transient)
    for name in ("tol_residual", "tol_parameters"):
        tolerance = real(getattr(settings, name), f"{where}: {name}", above=0.0)
        object.__setattr__(settings, name, tolerance)
    limit = whole(settings.max_iterations, f"{where}: max_iterations", least=1)
    object.__setattr__(settings, "max_iterations", limit)
    object.__setattr__(settings, "start", check_start(settings.start, where))
    flag(settings.estimate_gains, f"{where}: estimate_gains")
    flag(settings.estimate_delay, f"{where}: estimate_delay", optional=True)
    _ = settings.selection


def assemble(
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
    lack = NOT_TESTED
    if figures is not None and not request.is_first_stage:
        compared = total if output == "torque" else np.nan
        lack = _tested(settings, predictor, request, names, tuple(more.get("gains", ())), compared)
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
        lack=lack,
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


def _tested(
    settings: Any,
    predictor: Predictor,
    request: Request,
    names: tuple[str, ...],
    estimated: tuple[str, ...],
    residual: float,
) -> LackOfFit:
    """What the model lacks, unless the method's settings leave the tests out; `residual` is that of
    the torque, nan where it was not compared.
    """
    if not settings.lack_of_fit:
        return NOT_TESTED
    if residual <= SMALLEST_RESIDUAL:
        reason = "what is left of the torque is next to nothing"
        return LackOfFit(reason=reason, negligible=True)
    return lack_of_fit(predictor, request.experiments, names, estimated)


def listed_records(value: Experiment | Sequence[Experiment], name: str) -> tuple[Experiment, ...]:
    """One record or several as a tuple; `name` is the argument's."""
    records = (value,) if isinstance(value, Experiment) else value
    is_list = isinstance(records, list | tuple) and len(records) > 0
    if not is_list or not all(isinstance(each, Experiment) for each in records):
        raise InputError(
            f"{name} must be a didim.Experiment or a list of them, found {shortened(value)}."
        )
    return tuple(records)
