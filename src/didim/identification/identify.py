"""`identify`: the one verb. A model, records and a method in; an `Estimate` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, shortened
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label
from didim.results.judgement import WORSE, worsening
from didim.results.prediction import Validation, tried
from didim.results.provenance import hashed
from didim.signals.experiment import Experiment


class Method(Protocol):
    """What `identify` asks of a method."""

    def run(
        self,
        model: BaseModel,
        experiments: Sequence[Experiment],
        progress: Callable[[float], Any] | None = None,
    ) -> Estimate:
        """Identify the base parameters of `model`."""
        ...

    def ready(self, model: BaseModel, experiments: Sequence[Experiment]) -> None:
        """Refuse records that the method cannot use, before any work."""
        ...


def identify(
    model: DynamicModel | BaseModel,
    experiment: Experiment | Sequence[Experiment],
    method: Method,
    validation: Experiment | Sequence[Experiment] | None = None,
    progress: Callable[[float], Any] | None = None,
) -> Estimate:
    """Identify the base parameters of a robot.

    Parameters
    ----------
    model
        The dynamic model; its base parameters are estimated.
    experiment
        One record, or a list of records that are used together.
    method
        `didim.IDIM(...)` or `didim.DIDIM(...)`.
    validation
        Records that the fit does not see; the estimate keeps how well it predicts them.
    progress
        Called with the share done, 0 to 1; may return False to stop.
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
            f"progress must be a function of the share done, found {shortened(progress)}."
        )
    records, others = (
        _listed(experiment, "experiment"),
        [] if validation is None else _listed(validation, "validation"),
    )
    base = model if isinstance(model, BaseModel) else model.base
    if others:
        method.ready(base, others)
    estimate = replace(
        method.run(base, records, progress), experiments=tuple(records), held_out=tuple(others)
    )
    if not others:
        return estimate
    found = tuple(tried(estimate, each) for each in others)
    notes = tuple(note for each in found if (note := _doubt(estimate, each)) is not None)
    origin = {**estimate.provenance, "held_out": hashed(others)}
    return replace(estimate, validation=found, notes=(*estimate.notes, *notes), provenance=origin)


def _doubt(estimate: Estimate, found: Validation) -> str | None:
    """A note where another record is predicted much worse than the fit would promise."""
    ratio = worsening(estimate, found)
    if not ratio > WORSE:
        return None
    j = int(found.residual_by_joint.argmax())
    return (
        f"Record {found.experiment!r} is predicted {ratio:.2g} times worse than the fit, mostly "
        f"{joint_label(estimate.model, j)} ({100 * found.residual_by_joint[j]:.3g} %): payload, "
        "temperature, columns or units "
        "differ there, or the model does not hold beyond the fit."
    )


def _listed(value: Experiment | Sequence[Experiment], name: str) -> list[Experiment]:
    records = (
        [value]
        if isinstance(value, Experiment)
        else (list(value) if isinstance(value, list | tuple) else None)
    )
    if not records or not all(isinstance(each, Experiment) for each in records):
        raise InputError(
            f"{name} must be a didim.Experiment or a list of them, found {shortened(value)}."
        )
    return records
