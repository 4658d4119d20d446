"""`identify_drive_gains`: records of an empty and of a loaded robot in control units, and one known
number, give all gains and all dynamic parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, nearest, shortened
from didim.identification.methods.idim import IDIM
from didim.payload.comparable import refuse_other_units
from didim.payload.gain_equations import GainEquations, gain_equations
from didim.payload.gain_estimate import empty_robot
from didim.payload.gain_least_squares import Gains, total_gains, weighted_gains
from didim.payload.gain_likelihood import (
    Iterate,
    figures_at,
    free_step,
    iterate,
    linearised,
    parameters_at,
    physical_step,
    squares,
)
from didim.payload.gain_result import DriveGains, in_torque, plain_gains
from didim.regression.statistics import Statistics
from didim.results.effect_columns import joint_index
from didim.results.formatting import joint_label, listed
from didim.results.request import Request
from didim.signals.experiment import Experiment, listed_records
from didim.validation import one_of, real

Array = NDArray[np.float64]

METHODS = ("consistent", "wls", "tls")

KNOWN = {"mass": "M", "MX": "MX", "MY": "MY", "MZ": "MZ"}
"""What may be known of a load."""

MAX_RELATIVE_SIGMA = 0.25
"""Of a gain, beyond which the records do not identify it."""

_UNITS = "Log the same signal, in the same unit, with and without the load."


def identify_drive_gains(
    model: DynamicModel | BaseModel,
    empty: Experiment | Sequence[Experiment],
    loaded: Experiment | Sequence[Experiment] | None = None,
    mass: float | None = None,
    *,
    known: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
    link: int | str | None = None,
    method: str = "consistent",
    rows: IDIM | None = None,
    validation: Experiment | Sequence[Experiment] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> DriveGains:
    """Gains from the control signals to the torques of all joints, and all dynamic parameters.

    Parameters
    ----------
    model
        The dynamic model, with its own `fixed` values.
    empty, loaded
        Records with measured positions whose `tau` is the control signal, in amperes or volts: of
        the empty robot, and with a load.
    mass
        Of the load, kg.
    known
        Other numbers of the load: "mass", and first moments "MX", "MY", "MZ" in the frame of the
        joint, kg m.
    fixed
        Known values of the robot, as of `didim.DynamicModel`: without a loaded record, a joint's
        own inertia or first moment is what the scale rests on.
    link
        The joint whose link carries the load, counted from 0 or by its name; None: the last one.
    method
        "consistent": maximum likelihood inside the physically consistent set; "wls" and "tls":
        weighted and total least squares, for comparison.
    rows
        Filters and row selection as of `didim.IDIM`; None: its defaults.
    validation
        Records of the empty robot, in control units, that the fit does not see.
    origin
        Further provenance of the estimate, such as the study file.
    """
    if not isinstance(model, DynamicModel | BaseModel):
        raise InputError(
            f"model must be a didim.DynamicModel or its base, found {type(model).__name__}."
        )
    one_of(method, "method", METHODS)
    base = model if isinstance(model, BaseModel) else model.base
    if fixed:
        full = base.full
        values = {**(full.fixed or {}), **fixed}
        base = DynamicModel(full.robot, full.effects, full.shapes, full.held, values).base
    if base.loaded:
        raise InputError(
            "Friction that grows with the load of a joint is not linear in gains and parameters; "
            "leave such effects (load_friction) out, and add them once the gains are known."
        )
    numbers = _known(mass, known)
    without = listed_records(empty, "empty")
    carrying = () if loaded is None else listed_records(loaded, "loaded")
    joint = base.robot.n - 1 if link is None else joint_index(base, link)
    settings = replace(rows or IDIM(), lack_of_fit=False)
    _refuse_no_number(base, bool(carrying), numbers)
    equations = gain_equations(base, without, carrying, joint, numbers, settings)
    if carrying:
        unchanged = ~np.any(base.matrix[:, base.layout.link[joint]] != 0, axis=1)
        refuse_other_units(equations.apart[0], equations.apart[1], unchanged, _UNITS)
    weighted, total = weighted_gains(equations), total_gains(equations)
    free = _likeliest(equations, [weighted, total])
    figures = figures_at(equations, free)
    _refuse_unidentified(equations, figures)
    others = {"wls": weighted, "tls": total}
    found, notes = free, []
    if method == "consistent":
        step = physical_step(equations, free)
        found = iterate(equations, step(linearised(equations, free), free), step)
        figures = figures_at(equations, found)
    gains, sigmas = found.gains, figures.corrected[-base.robot.n :, -base.robot.n :]
    covariance = sigmas * np.outer(gains, gains)
    if method != "consistent":
        chosen = others.pop(method)
        gains, covariance = chosen.values, np.diag(chosen.sigma**2)
        notes.append("The parameters of the robot are those of maximum likelihood.")
    for name, each in others.items():
        if wrong := [joint_label(base, int(j)) for j in np.flatnonzero(~(each.values > 0))]:
            notes.append(f"{name} makes the gain of {listed(wrong)} negative.")
    others_of = () if validation is None else listed_records(validation, "validation")
    request = Request(
        base,
        tuple(in_torque(each, found.gains) for each in without),
        tuple(in_torque(each, found.gains) for each in others_of),
        origin={**(origin or {}), "drive_gains": plain_gains(base, gains, covariance)},
    )
    estimate = empty_robot(equations, settings, request, found, free, figures)
    anchor = {"mass" if name == "M" else name: value for name, value in numbers.items()}
    load = found.x[equations.load] if carrying else None
    anchor |= base.full.fixed or {}
    return DriveGains(gains, covariance, estimate, method, anchor, load, others, tuple(notes))


def _known(mass: float | None, known: Mapping[str, float] | None) -> dict[str, float]:
    """The known numbers of the load, by their symbols."""
    if known is not None and not isinstance(known, Mapping):
        raise InputError(
            f'known must be a table such as {{"mass": 2.805}}, found {shortened(known)}.'
        )
    given = {**({} if mass is None else {"mass": mass}), **(known or {})}
    found = {}
    for name, value in given.items():
        if name not in KNOWN:
            raise InputError(f"known: a load has no {shortened(name)}; {nearest(str(name), KNOWN)}")
        number = real(value, f"known: {name}", above=0.0 if name == "mass" else None)
        found[KNOWN[name]] = number
    return found


def _refuse_no_number(model: BaseModel, has_load: bool, known: Mapping[str, float]) -> None:
    if known and not has_load:
        raise InputError(
            f"{listed(list(known))} of a load is known, but there is no record with "
            "the load; give loaded."
        )
    fixed = model.full.known is not None and bool(np.any(model.full.known.targets))
    if not fixed and not any(known.values()):
        raise InputError(
            "No number is known, so that all gains and parameters could be multiplied by any "
            "factor: give the mass of the load (mass, kg), or a joint's own inertia or first "
            'moment (fixed, such as {"ZZ1R": 3.2}).'
        )


def _likeliest(equations: GainEquations, starts: Sequence[Gains]) -> Iterate:
    """Maximum likelihood over all parameters, from whichever start ends best."""
    candidates = [each.values for each in starts if np.all(each.values > 0)]
    y, joint = equations.system.y, equations.system.joint
    described = equations.model.nominal
    if np.isfinite(described).all():
        tau = equations.system.W @ described
        squared = np.bincount(joint, y * y, minlength=equations.n)
        ratio = np.abs(np.bincount(joint, y * tau, minlength=equations.n)) / squared
        if np.all(ratio > 0):
            candidates.append(ratio)
    candidates.append(np.full(equations.n, _common(equations)))
    ends = [
        iterate(equations, parameters_at(equations, each), free_step(equations))
        for each in candidates
    ]
    return min(ends, key=lambda each: squares(equations, each))


def _common(equations: GainEquations) -> float:
    """One gain for all joints with which the known numbers fit."""
    ones = parameters_at(equations, np.ones(equations.n)).x
    torque = equations.weights * (equations.A @ ones)
    signal = equations.weights * equations.system.y
    return max(abs(float(torque @ signal)) / float(signal @ signal), 1e-6)


def _refuse_unidentified(equations: GainEquations, figures: Statistics) -> None:
    """Refuse gains that nothing ties to what is known, by name."""
    n, model = equations.n, equations.model
    sigma = np.sqrt(np.maximum(np.diag(figures.corrected)[-n:], 0.0))
    wide = np.flatnonzero(~(sigma < MAX_RELATIVE_SIGMA))
    if wide.size:
        names = [
            f"{joint_label(model, int(j))} ("
            + (f"sigma {100 * sigma[j]:.0f} %)" if np.isfinite(sigma[j]) else "not seen)")
            for j in wide
        ]
        raise InputError(
            f"The records do not identify the drive gain of {listed(names)}: neither the known "
            "numbers nor what it shares with other joints act on it strongly enough. Take a "
            "heavier load, move these joints faster and together with the others, or fix an "
            "inertia of theirs."
        )
