"""`identify_payload`: an estimate of the empty robot, records with a load, and a `Payload` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, shortened
from didim.identification.identify import Method, identify
from didim.identification.methods.didim import DIDIM
from didim.payload.comparable import refuse_other_units, refuse_short
from didim.payload.difference import Difference, Gaussian
from didim.payload.loaded_robot import robot_with_load
from didim.payload.repeated import loaded_methods
from didim.payload.result import Payload
from didim.payload.torque_scale import scale_slopes
from didim.results.effect_columns import joint_index
from didim.results.estimate import Estimate
from didim.results.formatting import fraction, listed
from didim.results.load_seen import warms
from didim.results.status import Status
from didim.robot.effects import LINK
from didim.signals.experiment import Experiment, listed_records
from didim.validation import one_of, per_joint

Array = NDArray[np.float64]
Progress = Callable[[float], Any]

FRICTION = ("estimated", "held")

SWAPPED_SIGMAS = 5.0
"""By which a mass must be negative, for the estimate to be that of the loaded robot."""

_USABLE = (Status.CONVERGED, Status.UNEXCITED)

UNEXPLAINED = 2.0
"""Times the residual of the empty robot's records, that the load may leave without a note."""

_UNITS = (
    "Are its torques in N.m or N at the joints, as those of the estimate? A record in amperes "
    "needs drive_gain; didim.identify_drive_gains finds it."
)


def identify_payload(
    estimate: Estimate,
    experiments: Experiment | Sequence[Experiment],
    link: int | str | None = None,
    *,
    friction: str = "estimated",
    torque_sigma: ArrayLike = 0.0,
    method: Method | None = None,
    progress: Progress | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Payload:
    """Mass, centre and inertia of what a robot carries, as far as the motion identifies them.

    Parameters
    ----------
    estimate
        Of the empty robot; a saved one will do (`didim.load_estimate`).
    experiments
        One or more records with the load: with positions after IDIM; torque and reference are
        enough after DIDIM.
    link
        The joint whose link carries it, counted from 0 or by its name; None: the last one.
    friction
        "estimated": friction and offsets are those of the loaded records, since they change with
        the temperature; "held": they are the same in both, which makes the intervals narrower.
    torque_sigma
        Relative standard deviation of the factor on each joint's torques, one number or (n,): 0.05
        where drive gains are known to 5 %. It widens the intervals.
    method
        Of the loaded records; None: that of the estimate, with its settings. A loop given by poles
        is tried with the gains of the empty robot and tuned for the loaded one.
    progress
        Called with the fraction done; may return False to stop.
    origin
        Further provenance, such as the command.
    """
    if not isinstance(estimate, Estimate):
        raise InputError(
            "identify_payload takes the estimate of the empty robot (didim.identify, "
            f"didim.load_estimate), found {shortened(estimate)}."
        )
    one_of(friction, "friction", FRICTION)
    records = listed_records(experiments, "experiments")
    scales = per_joint(torque_sigma, "torque_sigma", estimate.model.robot.n)
    if np.any(scales < 0):
        raise InputError(f"torque_sigma must not be negative, found {shortened(torque_sigma)}.")
    _refuse_unusable(estimate)
    joint = estimate.model.robot.n - 1 if link is None else joint_index(estimate.model, link)
    model = _without_known_links(estimate.model)
    methods = loaded_methods(estimate, method)
    tried = _tried(model, records, methods, progress, origin)
    ended = [each for each in tried if each.status in _USABLE]
    loaded = min(ended or tried, key=_misfit)
    if not ended:
        raise InputError(
            f"The records with the load were not identified ({loaded.status}): {loaded.message}"
        )
    refuse_short(loaded.rows, len(loaded.names), "with the load")
    found = difference_of(estimate, loaded, joint, friction == "held")
    refuse_other_units(found.empty, found.loaded, ~np.any(found.B != 0, axis=1), _UNITS)
    swapped = _is_negative(found)
    empty, carrying = (loaded, estimate) if swapped else (estimate, loaded)
    if swapped:
        found = difference_of(empty, carrying, joint, friction == "held")
    if not found.used.size or found.hidden.all():
        raise InputError(
            "The motion identifies nothing of the load: no parameter that it changes is known from "
            "both records. Let the joints that carry it move, all of them if possible."
        )
    phi = found.physical
    combined = robot_with_load(empty, carrying, found, phi, joint)
    notes = _notes(estimate, found, len(methods) > 1 and loaded is tried[-1], swapped)
    if combined.experiments and combined.residual > UNEXPLAINED * estimate.residual:
        notes = (*notes, _unexplained(combined, estimate))
    combined = replace(combined, notes=(*combined.notes, *notes))
    covariance = found.covariance
    if np.any(scales > 0):
        slopes = scale_slopes(loaded, found, phi)
        covariance = covariance + (slopes * scales**2) @ slopes.T
    return Payload(combined, empty, joint, phi, found.plain, covariance, notes)


def difference_of(empty: Estimate, loaded: Estimate, joint: int, held: bool) -> Difference:
    """The equations of a load at the link of a joint; `held`: friction is the same in both."""
    model = empty.model
    B = model.matrix[:, model.layout.link[joint]]
    varies = warms(model) & (not held)
    return Difference(gaussian(empty), gaussian(loaded), B, varies)


def gaussian(estimate: Estimate) -> Gaussian:
    """What an estimate knows: values of plain least squares, to which its covariance belongs."""
    values = estimate.values if estimate.plain is None else estimate.plain
    return Gaussian(values, estimate.covariance, estimate.corrected_covariance)


def _refuse_unusable(estimate: Estimate) -> None:
    if estimate.eliminated:
        raise InputError(
            "The estimate of the empty robot keeps its essential parameters only, which says "
            "nothing about what a load adds to the others: identify it with essential = false."
        )
    known = np.isfinite(estimate.values).all() and np.isfinite(estimate.sigma).any()
    if not known or estimate.status not in _USABLE:
        raise InputError(
            f"The empty robot was not identified ({estimate.status}): {estimate.message}"
        )


def _without_known_links(model: BaseModel) -> BaseModel:
    """The model without known values of links, which hold for the empty robot only."""
    full = model.full
    kinds = {each.name: each.kind for each in (*model.parameters, *full.parameters)}
    kept = {
        name: value
        for name, value in (full.fixed or {}).items()
        if name not in kinds or not kinds[name].is_inertial
    }
    if len(kept) == len(full.fixed or {}):
        return model
    return DynamicModel(full.robot, full.effects, full.shapes, full.held, kept or None).base


def _tried(
    model: BaseModel,
    records: Sequence[Experiment],
    methods: Sequence[Method],
    progress: Progress | None,
    origin: Mapping[str, Any] | None,
) -> list[Estimate]:
    """The records by each of the methods; where none converges, by the exact method after DIDIM."""

    def run(chosen: Sequence[Method]) -> list[Estimate]:
        parts = [_part(progress, k, len(chosen)) for k in range(len(chosen))]
        pairs = zip(chosen, parts, strict=True)
        return [identify(model, records, each, None, part, origin=origin) for each, part in pairs]

    found = run(methods)
    if any(each.status in _USABLE for each in found):
        return found
    refined = [replace(each, refine=True) for each in methods if isinstance(each, DIDIM)]
    return run(refined) if refined else found


def _misfit(estimate: Estimate) -> float:
    """What is left of the torques: the mean logarithm over the joints."""
    return float(np.mean(np.log(np.maximum(estimate.residual_by_joint, 1e-300))))


def _part(progress: Progress | None, k: int, count: int) -> Progress | None:
    """The progress of the k-th of several runs."""
    if progress is None:
        return None
    return lambda done: progress((k + done) / count)


def _unexplained(loaded: Estimate, empty: Estimate) -> str:
    """That something else differs between the records."""
    return (
        f"With the load, {fraction(loaded.residual)} of the torque is left, "
        f"{fraction(empty.residual)} in the records of the empty robot: the load does not explain "
        "all that differs. Are all records of the same load, in the same units and loop?"
    )


def _is_negative(found: Difference) -> bool:
    """Whether the load is on the other side: its mass is negative beyond doubt."""
    mass, variance = float(found.plain[9]), float(found.covariance[9, 9])
    return mass < -SWAPPED_SIGMAS * np.sqrt(variance)


def _notes(empty: Estimate, found: Difference, tuned: bool, swapped: bool) -> tuple[str, ...]:
    """What a reader of the load should know."""
    notes = []
    if swapped:
        notes.append(
            "The estimate is that of the loaded robot, and the records are of the empty one: the "
            "load is what they differ by."
        )
    if found.hidden.any():
        names = [name for name, hidden in zip(LINK, found.hidden, strict=True) if hidden]
        notes.append(
            f"The motion does not identify {listed(names)} of the load separately: their values "
            "are those of one body among many with the same torque."
        )
    if empty.at_border and empty.plain is None:
        notes.append(
            "The empty robot was saved at the border of the physically consistent set, without the "
            "values of plain least squares: the uncertainty of the load is too small. Identify it "
            "again with this version."
        )
    if tuned:
        notes.append("The loop was taken as tuned for the loaded robot: its torque agrees better.")
    return tuple(notes)
