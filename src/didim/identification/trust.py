"""What the exact Jacobian says of DIDIM: whether its steps contract, how uncertain it is, and how
far it is biased.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import ComputedTorque, OwnLaw
from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop
from didim.identification.least_squares import Solution
from didim.identification.point import Point
from didim.identification.system import LinearSystem
from didim.results.estimate import Estimate

Array = NDArray[np.float64]

BIASED = 2.0
"""Standard deviations between DIDIM's point and the refined one that are told."""


def exact_jacobian(
    closed: ClosedLoop, model: BaseModel, point: Point, updates: bool
) -> Array | None:
    """How the torque changes with the parameters (r, b); None where it is not known.

    Gains of a loop given by poles follow the parameters (59), which is included; own gains that are
    retuned count as fixed.
    """
    loop = replace(point.loop, inertia=None) if updates and point.loop.by_poles else point.loop
    found = closed.differentiate(model, point.parameters, loop)
    return None if isinstance(found, str) else found[1].W


def contraction(solution: Solution, system: LinearSystem, J: Array) -> float:
    """Spectral radius of I - W+ J: by what a step of DIDIM multiplies an error, with J (r, b) the
    exact Jacobian.

    DIDIM steps by W+ rho, where rho changes by -J for an error; below 1 its steps shrink, the
    sooner the smaller.
    """
    weights = solution.row_weights[:, None]
    step = solution.inverse @ ((system.W * weights).T @ (J * weights))
    return float(np.abs(np.linalg.eigvals(np.eye(step.shape[0]) - step)).max())


def drag(model: BaseModel, parameters: Array, loop: Controller, inertia: Array) -> float | None:
    """Largest Fv / (kv g) over the joints: friction against the loop's velocity gain; None for laws
    whose gain is no torque.
    """
    if isinstance(loop, ComputedTorque | OwnLaw):
        return None
    inertia = (
        inertia
        if loop.inertia is None
        else np.broadcast_to(np.asarray(loop.inertia, dtype=float), inertia.shape)
    )
    values = model.values(parameters)
    viscous = np.diagonal(values.viscous) + np.maximum(
        values.viscous_positive, values.viscous_negative
    )
    g = np.diag(loop.drive(model))
    gains = loop.gains(model.robot.n, np.where(g != 0, g, 1.0), inertia)
    damping = np.abs(g * gains.kv)
    return float(np.max(np.abs(viscous)[damping > 0] / damping[damping > 0], initial=0.0))


def told_bias(first: Estimate, refined: Estimate) -> Estimate:
    """The refined estimate, with a note where DIDIM had settled elsewhere by more than the standard
    deviations.
    """
    if first.status != "converged" or refined.status != "converged" or refined.gains:
        return refined
    sigma = np.sqrt(np.diag(refined.corrected_covariance) + np.diag(first.corrected_covariance))
    far = np.abs(first.parameters - refined.parameters) / np.where(sigma > 0, sigma, np.inf)
    told = [f"{refined.names[k]} by {far[k]:.2g}" for k in np.argsort(-far) if far[k] > BIASED]
    if not told:
        return refined
    note = (
        "DIDIM alone settles elsewhere, in standard deviations: "
        f"{', '.join(told[:5])}{', ...' if len(told) > 5 else ''}. "
        "The difference is its bias, since it leaves out how the motion changes with the "
        "parameters (39), if the loop is right."
    )
    return replace(refined, notes=(*refined.notes, note))
