"""The robot of the description as a point to stay close to, and links of round bodies like it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.consistent import Consistent, positive_parameters
from didim.dynamics.model import BaseModel
from didim.robot.inertia import (
    GENERIC_GYRATION_RADIUS,
    GENERIC_MASS,
    about_origin,
    is_body,
)

Array = NDArray[np.float64]


def described_robot(model: BaseModel, known: Array | None = None) -> Array:
    """(p,) what to stay close to: the nominal values, `known` where they lack and its links are
    bodies, or a generic link.
    """
    centre = model.full.nominal
    if known is not None and not all(is_body(known[columns]) for columns in model.layout.link):
        known = None
    for columns in model.layout.link:
        if np.isnan(centre[columns]).any() or not is_body(centre[columns]):
            centre[columns] = round_body(centre[columns]) if known is None else known[columns]
    return np.where(np.isnan(centre), 0.0 if known is None else known, centre)


def round_body(link: Array) -> Array:
    """(10,) a body of the described mass and centre, generic where they are unknown or zero, with
    some inertia.
    """
    mass = link[9] if link[9] > 0 else GENERIC_MASS
    centre = link[6:9] / mass if np.isfinite(link[6:]).all() else np.zeros(3)
    return about_origin(mass, centre, mass * GENERIC_GYRATION_RADIUS**2 * np.eye(3))


def barriers(model: BaseModel, centre: Array) -> tuple[Consistent, Consistent]:
    """The barrier around `centre` (p,), and the one around the same robot with round links, in the
    middle of the set. Rotors and friction that are not positive there are 1.
    """
    start = centre.copy()
    positive = positive_parameters(model.full)
    start[positive] = np.where(centre[positive] > 0, centre[positive], 1.0)
    round_links = start.copy()
    for columns in model.layout.link:
        round_links[columns] = round_body(start[columns])
    scale = np.maximum(np.abs(start), 1.0)
    return Consistent(model.full, start, scale), Consistent(model.full, round_links, scale)


def sized(barrier: Consistent, matrix: Array, beta: Array) -> tuple[Consistent, float]:
    """The barrier around a robot of the size of beta (b,), and how much larger it is: a record in
    wrong units can be of a robot a thousand times lighter than the described one.
    """
    described = np.abs(matrix @ barrier.prior)
    known = (described > 0) & (beta != 0)
    ratio = float(np.median(np.abs(beta[known]) / described[known])) if known.any() else 1.0
    return Consistent(barrier.model, ratio * barrier.prior, ratio * barrier.scale), ratio
