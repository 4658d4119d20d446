"""A payload as text, in the layout of the tables of estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from didim.results.formatting import fraction, number

if TYPE_CHECKING:
    from didim.payload.result import Payload

Row = tuple[str, str, float, float]
"""Name, unit, value and standard deviation."""

_AXES = "xyz"


def rows_of(payload: Payload) -> list[Row]:
    """Mass, centre and inertia, one number a row."""
    sigma = payload.sigma
    rows: list[Row] = [("mass", "kg", payload.mass, sigma.mass)]
    for k, axis in enumerate(_AXES):
        rows.append((f"centre {axis}", "m", float(payload.centre[k]), float(sigma.centre[k])))
    for i, j in zip(*np.triu_indices(3), strict=True):
        name = f"inertia {_AXES[i]}{_AXES[j]}"
        value, deviation = payload.inertia[i, j], sigma.inertia[i, j]
        rows.append((name, "kg m²", float(value), float(deviation)))
    return rows


def headline(payload: Payload) -> str:
    """The answer in a sentence."""
    low, high = payload.interval()
    if not np.isfinite(payload.sigma.mass):
        return f"The motion does not identify the mass of the load at {payload.label}."
    bounds = f"95 % interval {number(low)} to {number(high)} kg"
    if not payload.is_seen:
        return f"No load is seen at {payload.label}: {bounds}."
    return f"Load at {payload.label}: {number(payload.mass)} kg, {bounds}."


def summary(payload: Payload) -> str:
    """Head, table and notes."""
    estimate = payload.estimate
    head = f"{'':<12} {'value':>11} {'2 sigma':>10}   unit"
    lines = [
        headline(payload),
        f"{estimate.method} of {estimate.model.robot.name}, {len(estimate.experiments)} record(s) "
        f"with the load; residual with it {fraction(estimate.residual)}, of the empty robot's own "
        f"records {fraction(payload.empty.residual)}.",
        "",
        head,
        "-" * len(head),
    ]
    for name, unit, value, sigma in rows_of(payload):
        shown = number(2 * sigma) if np.isfinite(sigma) else "not known"
        lines.append(f"{name:<12} {number(value):>11} {shown:>10}   {unit}")
    lines += [
        "",
        "Centre and inertia are in the frame of the joint, the inertia about the centre. The "
        "uncertainty is that of both records.",
    ]
    if payload.at_border:
        lines.append(
            "Least squares alone gave no physical body; these are the values of the best one. The "
            "interval of the mass is that of least squares, cut at zero."
        )
    if payload.notes:
        lines += ["", "Notes", *(f"[{k}] {note}" for k, note in enumerate(payload.notes, 1))]
    return "\n".join(lines)
