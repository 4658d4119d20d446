"""From base parameters back to standard ones: those that reproduce beta, can be a machine's, and
are closest to the nominal.

Many standard vectors phi have matrix @ phi = beta (4)-(6). Among those whose links can exist, the
one of least barrier around the nominal values is taken, the log-determinant divergence of the
links' pseudo-inertias, which does not depend on axes or units. Where none can exist, the nearest
one in relative terms is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.closest import least_barrier
from didim.dynamics.consistent import Consistent, positive_parameters
from didim.dynamics.model import BaseModel
from didim.errors import cut
from didim.robot.inertia import (
    GENERIC_GYRATION_RADIUS,
    GENERIC_MASS,
    about_origin,
    is_body,
    is_consistent,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Standard:
    """Standard parameters, and what no machine could have among them."""

    values: Array
    """(p,) with matrix @ values = beta."""
    doubts: tuple[str, ...]
    """What is not physically consistent, in words; empty where everything is."""


def closest_standard(model: BaseModel, beta: Array, known: Array | None = None) -> Standard:
    """The standard parameters (p,) of base parameters beta (b,) closest to the nominal ones, or to
    `known` where these lack.
    """
    free = linalg.null_space(model.matrix)
    settled = np.linalg.norm(free, axis=1) < 1e-9
    own: Array = np.asarray(np.linalg.lstsq(model.matrix, beta, rcond=None)[0], dtype=np.float64)
    centre = _centre(model, known)
    values = _inside(model, beta, centre, settled, own)
    if values is None:
        values = _nearest(model, beta, centre, settled, own)
    return Standard(values, tuple(_doubts(model, values)))


def _centre(model: BaseModel, known: Array | None) -> Array:
    """(p,) what to stay close to: the nominal values, `known` where they lack, or a generic
    link.
    """
    centre = model.full.nominal
    for columns in model.layout.link:
        if np.isnan(centre[columns]).any() or not is_body(centre[columns]):
            centre[columns] = _ball(centre[columns]) if known is None else known[columns]
    return np.where(np.isnan(centre), 0.0 if known is None else known, centre)


def _ball(link: Array) -> Array:
    """(10,) a body of the described mass and centre, generic where they are unknown or zero, with
    some inertia.
    """
    mass = link[9] if link[9] > 0 else GENERIC_MASS
    centre = link[6:9] / mass if np.isfinite(link[6:]).all() else np.zeros(3)
    return about_origin(mass, centre, mass * GENERIC_GYRATION_RADIUS**2 * np.eye(3))


def _sizes(model: BaseModel, centre: Array) -> Array:
    """(p,) by how much a parameter may move: its own size, at least a tenth of its link's."""
    sizes = np.abs(centre)
    for columns in model.layout.link:
        inertia, moments, mass = columns[:6], columns[6:9], columns[9:]
        for group in (inertia, moments, mass):
            sizes[group] = np.maximum(sizes[group], 0.1 * np.abs(centre[group]).max())
        sizes[moments] = np.maximum(sizes[moments], GENERIC_GYRATION_RADIUS * sizes[mass])
    return np.maximum(sizes, 1e-6 * max(1.0, float(sizes.max())))


def _nearest(
    model: BaseModel, beta: Array, centre: Array, settled: NDArray[np.bool_], own: Array
) -> Array:
    """The nearest vector in relative terms, without negative masses where these are not settled."""
    sizes = np.where(settled, 0.0, _sizes(model, centre))
    mass = model.layout.link[:, 9]
    for _ in range(mass.size + 1):
        found = _onto(model.matrix, beta, centre, sizes, settled, own)
        below = mass[(found[mass] < 0) & (sizes[mass] > 0)]
        if not below.size:
            break
        sizes[below] = 0.0
    return found


def _onto(
    matrix: Array, beta: Array, start: Array, sizes: Array, settled: NDArray[np.bool_], own: Array
) -> Array:
    """The vector nearest to `start`, in units of `sizes`, with matrix @ vector = beta exactly."""
    begin = np.where(settled, own, start)
    step = sizes * np.linalg.lstsq(matrix * sizes, beta - matrix @ begin, rcond=None)[0]
    found = begin + step
    return np.asarray(
        found + sizes * np.linalg.lstsq(matrix * sizes, beta - matrix @ found, rcond=None)[0]
    )


def _inside(
    model: BaseModel, beta: Array, centre: Array, settled: NDArray[np.bool_], own: Array
) -> Array | None:
    """The closest vector whose links can exist, or None. Values that are settled are judged apart,
    whatever their sign.
    """
    start = centre.copy()
    positive = positive_parameters(model.full)
    held = settled.copy()
    held[model.layout.link] = False
    held[positive] |= ~(centre[positive] > 0)  # a rotor of which nothing is known stays where it is
    start[positive] = np.where(centre[positive] > 0, centre[positive], 1.0)
    round_links = start.copy()
    for columns in model.layout.link:
        round_links[columns] = _ball(start[columns])
    around, middle = (
        Consistent(model.full, each, np.maximum(np.abs(start), 1.0))
        for each in (start, round_links)
    )
    fixed = np.where(settled, own, centre)
    shifted = beta + model.matrix[:, held] @ (start - fixed)[held]
    found = least_barrier(around, middle, model.matrix, shifted, ~held)
    return None if found is None else np.where(held, fixed, found)


def _doubts(model: BaseModel, values: Array) -> list[str]:
    """Links that no body can be, and friction or rotors below zero."""
    doubts = [
        f"no body can have the inertial parameters of the link of joint {joint.name!r}"
        for joint, columns in zip(model.robot.joints, model.layout.link, strict=True)
        if not is_consistent(values[columns])
    ]
    names = model.full.parameter_names
    below = [
        f"{names[k]} = {values[k]:.3g}" for k in positive_parameters(model.full) if values[k] < 0
    ]
    return doubts + ([f"negative: {cut(', '.join(below), 160)}"] if below else [])
