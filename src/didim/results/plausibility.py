"""Notes on identified values: not physical, hardly explaining the torque, or biased."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.results.consistency import consistency_of
from didim.results.doubts import SUSPECT
from didim.results.estimate import Estimate
from didim.results.formatting import joint_label, listed
from didim.results.prediction import every_parameter

Array = NDArray[np.float64]

BORDER_SIGMAS = 0.25
"""Standard deviations by which the border of the physically consistent set must move a parameter,
for its interval to be doubted.
"""

BIAS_SIGMAS = 2.0
"""Standard deviations between DIDIM's parameters and the refined ones that are worth a note."""


def implausible(
    model: BaseModel,
    names: Sequence[str],
    values: Array,
    sigma: Array,
    residual: Array,
    without_rest: bool = False,
) -> list[str]:
    """The notes, for parameters with their standard deviations (18) and the residual of each joint
    (n,); `without_rest` says whether equations of joints at rest are left out already.
    """
    notes, J = [], largest_inertias(model, every_parameter(model, names, values))
    if np.any(J <= 0):
        notes.append(
            f"The inertia of {joint_label(model, int(J.argmin()))} is not positive: no robot has "
            "these parameters. Check sign and units of its torque and position."
        )
    frictional = dict(zip(model.parameter_names, model.frictional, strict=True))
    triples = zip(names, values, sigma, strict=True)
    bad = [name for name, value, s in triples if frictional[name] and value < -3 * s]
    if bad:
        turned = len(bad) == sum(frictional[name] for name in names)
        at_rest = (
            "Is a larger rest_velocity needed, or another friction model?"
            if without_rest
            else "Equations of joints at rest spoil it; try rest_velocity."
        )
        hint = "Is the sign of the torque right?" if turned else at_rest
        notes.append(f"Negative friction: {', '.join(bad)}. {hint}")
    if np.any(poor := residual > SUSPECT):
        joints = [
            f"{100 * residual[j]:.3g} % of {joint_label(model, int(j))}"
            for j in np.flatnonzero(poor)
        ]
        hint = "check units, signs, columns and filters before using this"
        notes.insert(0, f"Much of the torque is unexplained, {', '.join(joints)}: {hint}.")
    return notes


def border_notes(
    model: BaseModel, plain: Array, inside: Array, sigma: Array, before: float, after: float
) -> tuple[tuple[str, ...], list[str]]:
    """The parameters at the border of the physically consistent set, and notes: what plain least
    squares lacks, what the set costs in residual, and whose intervals do not hold.

    `plain` and `inside` (b,) are the values of plain least squares and of the set, `sigma` (b,) the
    standard deviations of the first; `before` and `after` the residuals.
    """
    shift = np.abs(inside - plain) / np.where(sigma > 0, sigma, np.inf)
    at_zero = (inside == 0.0) & (sigma > 0)
    order = [k for k in np.argsort(-shift) if shift[k] > BORDER_SIGMAS or at_zero[k]]
    names, found = model.parameter_names, consistency_of(model, plain)
    reason = "not with the fixed values" if found.physical else found.reason
    notes = [
        f"Plain least squares is not physical: {reason}. Least "
        "squares over the physically consistent set was taken; the residual went from "
        f"{100 * before:.4g} % to {100 * after:.4g} %. Sigma and intervals are those of plain "
        "least squares."
    ]
    if order:
        far = listed([f"{names[k]} (by {shift[k]:.2g} sigma)" for k in order], 12)
        notes.append(
            f"At the border of the physically consistent set: {far}. The intervals of these "
            "parameters do not hold."
        )
    return tuple(names[k] for k in sorted(order)), notes


def bias_notes(first: Estimate, base: Array, covariance: Array) -> tuple[str, ...]:
    """A note where DIDIM had settled elsewhere by more than the standard deviations."""
    b = base.size
    sigma = np.sqrt(np.diag(covariance[:b, :b]) + np.diag(first.corrected_covariance))
    far = np.abs(first.parameters - base) / np.where(sigma > 0, sigma, np.inf)
    order = [k for k in np.argsort(-far) if far[k] > BIAS_SIGMAS]
    if not order:
        return ()
    names = listed([f"{first.names[k]} by {far[k]:.2g}" for k in order], 5)
    return (
        f"DIDIM alone settles elsewhere, in standard deviations: {names}. The difference is its "
        "bias, since it leaves out how the motion changes with the parameters (39), if the loop "
        "is right.",
    )
