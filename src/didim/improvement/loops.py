"""What a suspect of the control law changes in the loop of a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import GAINS, Controller, Gains
from didim.control.laws import ComputedTorque
from didim.control.simulated_loop import EstimatedGains, assumed_inertia, numeric_gains
from didim.control.tuning import largest_inertias
from didim.errors import InputError
from didim.improvement.structure import Candidate, Structure
from didim.results.estimate import Estimate
from didim.results.formatting import number
from didim.results.lack_of_fit import LackRow, Remedy
from didim.signals.experiment import Experiment, measured_torque
from didim.structure.other_laws import with_gains

Array = NDArray[np.float64]

SNAP_SIGMAS, SNAP_DISTANCE = 3.0, 0.1
"""A velocity reference that is as near to 0 or 1 is that."""

LEAST_FEEDFORWARD = 0.3
"""Of the torque along the reference: 1 is the model itself."""

SCANNED_CHANGE = 30.0
"""Percent: gains that are further off are looked for by a scan of the bandwidth."""


def candidates_of_loop(
    structure: Structure, estimate: Estimate, row: LackRow, experiments: Sequence[Experiment]
) -> list[Candidate]:
    """The structures that add a suspect of the law, the one to prefer first."""
    loop = estimate.controller
    if loop is None or structure.loop is None:
        raise InputError("the method simulates no loop")
    match row.remedy:
        case Remedy.GAIN:
            return _gain(structure, estimate, loop, row)
        case Remedy.INTEGRAL:
            return _integral(structure, estimate, loop, row)
        case Remedy.VELOCITY_REFERENCE:
            return [_velocity_reference(structure, estimate, loop, row)]
        case Remedy.FEEDFORWARD:
            return [_feedforward(structure, estimate, loop, row)]
        case Remedy.DELAY:
            return [_delay(structure, estimate, loop, row)]
        case Remedy.REFERENCE_DELAY:
            return [_reference_delay(structure, estimate)]
        case _:
            return [_saturation(structure, estimate, loop, row, experiments)]


def gains_of(estimate: Estimate, loop: Controller) -> Gains:
    """The gains of the loop as numbers, at the estimate."""
    model = estimate.model
    inertia = assumed_inertia(loop, largest_inertias(model, estimate.parameters))
    return numeric_gains(model, loop, inertia)


def _with(loop: Controller, gains: Gains) -> Controller:
    """The loop with these gains; computed torque stays what it is."""
    return loop.with_gains(gains) if isinstance(loop, ComputedTorque) else with_gains(loop, gains)


def _at(structure: Structure, estimate: Estimate, loop: Controller, **changed: Any) -> Structure:
    """The structure with another loop, starting from the estimate."""
    settings = dict(changed)
    if getattr(structure.method, "gain_update", None) and not loop.by_poles:
        settings["gain_update"] = None  # the new gains are numbers of their own
    return structure.started_at(estimate, loop).with_method(**settings)


def _joints(row: LackRow, n: int) -> list[int]:
    return [*range(n)] if row.joint is None else [row.joint]


def _kind(row: LackRow) -> str:
    return row.name.rstrip("0123456789")


def _whose(row: LackRow) -> str:
    return "of every joint" if row.joint is None else f"of joint {row.joint + 1}"


def _estimating(structure: Structure, name: str) -> EstimatedGains:
    """The gains that are estimated, with one more: "kp1", or "kiv" for all joints."""
    now = getattr(structure.method, "estimate_gains", True)
    if isinstance(now, bool):
        return now or (name,)
    return now if name in now else (*now, name)


def _gain(
    structure: Structure, estimate: Estimate, loop: Controller, row: LackRow
) -> list[Candidate]:
    """That gain as an unknown, from its scaled value; all gains; or that gain with its value. Far
    from the assumed value all gains come first, by a scan.
    """
    kind, own = _kind(row), gains_of(estimate, loop)
    if kind not in GAINS:
        raise InputError(f"{row.name} is no gain of the law")
    factor = max(1.0 + 0.01 * row.value, 0.1)
    values = getattr(own, kind).copy()
    values[_joints(row, values.size)] *= factor
    scaled = _with(loop, replace(own, **{kind: values}))
    shown = f"{number(factor)} times {kind} {_whose(row)}"
    alone = Candidate(_at(structure, estimate, scaled), f"Set {shown}.")
    if _estimating(structure, row.name) is True:
        return [alone]
    scan = abs(row.value) > SCANNED_CHANGE
    every = _at(structure, estimate, scaled, estimate_gains=True, scan=scan)
    one = _at(structure, estimate, scaled, estimate_gains=_estimating(structure, row.name))
    free = [
        Candidate(one, f"{kind} {_whose(row)} is estimated, from {number(factor)} times it."),
        Candidate(every, f"The gains are estimated, from {shown}."),
    ]
    return [*(free[::-1] if scan else free), alone]


def _integral(
    structure: Structure, estimate: Estimate, loop: Controller, row: LackRow
) -> list[Candidate]:
    """A PID or a cascade; its integral gains as unknowns, all gains, or the value of the test."""
    kind, own = _kind(row), gains_of(estimate, loop)
    if row.value <= 0:
        raise InputError("an integral gain below zero is no gain")
    unit = own.kp * own.kv if kind == "ki" else own.kv
    values = getattr(own, kind).copy()
    chosen = _joints(row, values.size)
    values[chosen] = row.value * unit[chosen]
    found = _with(loop, replace(own, **{kind: values}))
    law = "PID" if kind == "ki" else "cascade"
    text = f"The law is a {law}: integral action {_whose(row)}, {number(row.value)} 1/s"
    which, free = _estimating(structure, row.name), []
    if which is not True:
        one = _at(structure, estimate, found, estimate_gains=which)
        free.append(Candidate(one, f"{text}; {kind} is estimated."))
    every = _at(structure, estimate, found, estimate_gains=True, scan=False)
    free.append(Candidate(every, f"{text}; the gains are estimated."))
    return [*free, Candidate(_at(structure, estimate, found), f"{text}.")]


def _velocity_reference(
    structure: Structure, estimate: Estimate, loop: Controller, row: LackRow
) -> Candidate:
    own = gains_of(estimate, loop)
    values = own.ff.copy()
    for j in _joints(row, values.size):
        values[j] = _snapped(values[j] + row.value, row.sigma)
    if np.array_equal(values, own.ff):
        raise InputError("within its uncertainty, the velocity reference is what it is now")
    found = _with(loop, replace(own, ff=values))
    if isinstance(loop, ComputedTorque):
        found = replace(found, velocity_reference=values)
    shown = ", ".join(number(each) for each in np.unique(values[_joints(row, values.size)]))
    text = f"Set velocity_reference {_whose(row)}: {shown}."
    return Candidate(_at(structure, estimate, found), text)


def _snapped(value: float, sigma: float) -> float:
    """0 or 1 where the value is as near; never negative."""
    for whole in (0.0, 1.0):
        if abs(value - whole) < max(SNAP_DISTANCE, SNAP_SIGMAS * sigma):
            return whole
    return max(value, 0.0)


def _feedforward(
    structure: Structure, estimate: Estimate, loop: Controller, row: LackRow
) -> Candidate:
    """The torque of the identified model along the reference, for all joints."""
    if row.value < LEAST_FEEDFORWARD:
        raise InputError(f"{number(row.value)} times the torque of the model is no feedforward")
    own = _with(loop, gains_of(estimate, loop))
    found = replace(
        own, model=estimate.model, parameters=estimate.parameters, model_term="feedforward"
    )
    text = "The controller adds the torque of the identified model along the reference."
    return Candidate(_at(structure, estimate, found), text, follows=True)


def _delay(structure: Structure, estimate: Estimate, loop: Controller, row: LackRow) -> Candidate:
    if loop.rate is None:
        raise InputError("a delay of the command is one of a sampled law: give its rate")
    more = round(row.value * loop.rate)
    if loop.delay + more < 0 or not more:
        raise InputError(f"{number(row.value * loop.rate)} samples are no whole sample of delay")
    found = replace(loop, delay=loop.delay + more)
    text = f"Set the delay of the command: {found.delay} samples."
    return Candidate(_at(structure, estimate, found), text)


def _reference_delay(structure: Structure, estimate: Estimate) -> Candidate:
    found = structure.started_at(estimate).with_method(estimate_delay=True)
    return Candidate(found, "A delay of the reference is estimated.")


def _saturation(
    structure: Structure,
    estimate: Estimate,
    loop: Controller,
    row: LackRow,
    experiments: Sequence[Experiment],
) -> Candidate:
    g = loop.drive(estimate.model)
    j, n = row.joint or 0, g.shape[0]
    if np.count_nonzero(g[j]) != 1 or g[j, j] == 0:
        raise InputError("the torque of that joint is made by several drives")
    largest = max(float(np.abs(measured_torque(each)[:, j]).max()) for each in experiments)
    limits = np.broadcast_to(np.asarray(loop.saturation, dtype=float), (n,)).copy()
    limits[j] = largest / abs(g[j, j])
    found = replace(loop, saturation=limits)
    text = f"Set the saturation of joint {j + 1}: {number(limits[j])}."
    return Candidate(_at(structure, estimate, found), text)
