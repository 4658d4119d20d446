"""The physical robot of an estimate: with exactly its base parameters where one lies inside the
physically consistent set, else the nearest one.

Nearest is nearest in predicted torque: the squared differences of base parameters in the metric of
the information matrix, the inverse of the covariance (18), which is what least squares over the set
minimises. A barrier around the described robot keeps the links off the border and near the
description where the torque says nothing. Parameters without a variance count by their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.barrier import BARRIER_WEIGHT, Problem
from didim.dynamics.described import barriers, described_robot, sized
from didim.dynamics.model import BaseModel
from didim.dynamics.physical import least_squares_inside
from didim.dynamics.prior import BASE_TOLERANCE
from didim.errors import InputError
from didim.results.formatting import fraction, joint_label, listed, number
from didim.results.standard import closest_standard

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

Array = NDArray[np.float64]

FINEST = 1e-4
"""Fraction of a parameter's size below which a standard deviation is not believed here."""

MIN_BODY = 1e-6
"""The part of a round body of the described mass that every exported link contains."""

MIN_SHIFT = 0.1
"""Standard deviations, or fraction of its size where it has none, by which a parameter must move to
be listed.
"""


@dataclass(frozen=True, eq=False)
class PhysicalRobot:
    """Physical standard parameters, and what was changed to get them."""

    values: Array
    """(p,) inside the set."""
    changes: tuple[str, ...] = ()
    """One line for each link whose base parameters were changed, and the residual; empty where they
    are the identified ones.
    """


def physical_robot(estimate: Estimate, project: bool = False) -> PhysicalRobot:
    """The physical robot of the estimate. One that is not physical is refused unless `project`."""
    if not np.isfinite(estimate.parameters).all():
        raise InputError(
            f"The estimate holds no finite parameters (status {estimate.status!r}); there is no "
            "robot to write."
        )
    judged = estimate.consistency
    if not judged.physical and not project:
        raise InputError(
            f"The identified robot is not physical: {judged.reason}. Other programs cannot "
            "simulate it. Identify with consistent = true (IDIM) or refine = true (DIDIM), or take "
            "the nearest physical robot: didim export --project, to_robot(project=True)."
        )
    if judged.physical:
        exact = closest_standard(estimate.model, estimate.parameters, estimate.standard)
        if exact is not None and _off_border(estimate.model, exact):
            return PhysicalRobot(exact)
    return _nearest(estimate)


def _off_border(model: BaseModel, values: Array) -> bool:
    """Whether all links are off the border, by a margin that a file and other programs keep."""
    middle = barriers(model, described_robot(model))[1]
    links, round_links = middle.bodies(values), middle.bodies(middle.prior)
    return all(
        linalg.eigh(link, body, eigvals_only=True)[0] > MIN_BODY
        for link, body in zip(links, round_links, strict=True)
    )


def _nearest(estimate: Estimate) -> PhysicalRobot:
    """The robot inside the set that is nearest in predicted torque."""
    model, beta = estimate.model, estimate.parameters
    around = barriers(model, described_robot(model, estimate.standard))[0]
    barrier = sized(around, model.matrix, beta)[0]
    R, sigma = _information(estimate, np.abs(model.matrix @ barrier.prior))
    nothing = np.zeros(0)
    problem = Problem(barrier, model.matrix, R, R @ beta, nothing, nothing)
    order = 4 * len(model.robot.joints) + barrier.positive.size
    start = least_squares_inside(model, R, R @ beta, BARRIER_WEIGHT * order)
    values = problem.solve(start, nothing)[0]
    moved = model.matrix @ values - beta
    closest = closest_standard(model, model.matrix @ values, estimate.standard)
    if closest is not None and _off_border(model, closest):
        values = closest
    return PhysicalRobot(values, _changes(estimate, moved, sigma, float(np.sum((R @ moved) ** 2))))


def _information(estimate: Estimate, described: Array) -> tuple[Array, Array]:
    """R (b, b) with R'R the information matrix of all base parameters, and their standard
    deviations (b,), infinite where unknown.
    """
    order = {name: k for k, name in enumerate(estimate.model.parameter_names)}
    beta = estimate.parameters
    size = np.maximum(np.abs(beta), described)
    size = np.where(size > 0, size, max(float(size.max(initial=0.0)), 1e-6))
    R, sigma = np.diag(1.0 / (BASE_TOLERANCE * size)), np.full(beta.size, np.inf)
    known = np.flatnonzero(np.isfinite(estimate.sigma))
    at = np.array([order[estimate.names[k]] for k in known], dtype=np.int64)
    if at.size:
        least = FINEST * size[at]
        covariance = estimate.covariance[np.ix_(known, known)] + np.diag(least**2)
        sigma[at] = np.sqrt(np.diag(covariance))
        values, vectors = np.linalg.eigh(covariance / np.outer(sigma[at], sigma[at]))
        R[np.ix_(at, at)] = (vectors / np.sqrt(np.maximum(values, 1e-12))).T / sigma[at]
    return R, sigma


def _changes(estimate: Estimate, moved: Array, sigma: Array, squared: float) -> tuple[str, ...]:
    """What moved, link by link, and what it costs."""
    model, beta = estimate.model, estimate.parameters
    lines = []
    unit = np.where(np.isfinite(sigma), sigma, np.maximum(np.abs(beta), 1e-300))
    for j in range(len(model.robot.joints)):
        own = [k for k, each in enumerate(model.parameters) if each.joint == j]
        far = [k for k in own if abs(moved[k]) > MIN_SHIFT * unit[k]]
        texts = [
            f"{model.parameter_names[k]} {number(beta[k])} -> {number(beta[k] + moved[k])}"
            + (f" ({abs(moved[k]) / sigma[k]:.2g} sigma)" if np.isfinite(sigma[k]) else "")
            for k in sorted(far, key=lambda k: float(-abs(moved[k]) / unit[k]))
        ]
        if texts:
            lines.append(f"{joint_label(model, j)}: {listed(texts, 4)}")
    grown = estimate.residual * np.sqrt(1.0 + squared / max(estimate.freedom, 1))
    cost = f"residual of the fit {fraction(estimate.residual)} -> about {fraction(grown)}"
    return (*lines, cost)
