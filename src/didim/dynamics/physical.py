"""Base parameters and the physically consistent set: whether a robot with these exists, what each
link lacks where none does, and least squares over the set.

The base parameters beta are physical where standard parameters theta of the set have matrix theta =
beta. The closed set has positive semidefinite pseudo-inertias, and rotors and friction of at least
zero. What links lack is the least sum of s >= 0 with

    matrix (theta - sum over links of s_i body_i) = beta,    theta inside the set,

where body_i is a round body of the described mass at the described centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from didim.dynamics.closest import least_barrier, with_known
from didim.dynamics.cone_program import Quadratic, Region
from didim.dynamics.consistent import BASIS, Consistent, positive_parameters
from didim.dynamics.described import barriers, described_robot, round_body, sized
from didim.dynamics.interior_point import minimise
from didim.dynamics.model import BaseModel

Array = NDArray[np.float64]

LACK_ACCURACY = 1e-7
"""To which the sum of what links lack is found."""

TOLERANCE = 1e-6
"""What a link may lack, and still count as on the border of the set."""

_ROUNDING = 1e-12
"""Relative error of base parameters that is none."""

_NEGATIVE = 1e-9
"""Fraction of the largest parameter of its kind below which a negative value is rounding."""


@dataclass(frozen=True, eq=False)
class Lacks:
    """What keeps base parameters from being physical."""

    links: Array
    """(n,) what each link lacks, in round bodies of its described mass."""
    single: Array
    """(p,) what each rotor inertia or friction lacks to be zero, SI; else 0."""
    theta: Array | None
    """(p,) physically consistent parameters with these base parameters; None where none was
    found.
    """


def settled_parameters(matrix: Array) -> NDArray[np.bool_]:
    """(p,) standard parameters whose values the base parameters determine."""
    return np.asarray(np.linalg.norm(linalg.null_space(matrix), axis=1) < 1e-9)


def has_robot(model: BaseModel, beta: Array, theta: Array) -> bool:
    """Whether theta (p,) lies in the closed set and has the base parameters beta (b,)."""
    size = np.abs(model.matrix) @ np.abs(theta)
    links = np.tensordot(theta[model.layout.link], BASIS, axes=1)
    return bool(
        np.all(np.abs(model.matrix @ theta - beta) <= _ROUNDING * size)
        and np.all(theta[positive_parameters(model.full)] >= 0)
        and all(values[0] >= -_ROUNDING * values[-1] for values in np.linalg.eigvalsh(links))
    )


def lacks_of(model: BaseModel, beta: Array) -> Lacks:
    """What beta (b,) lacks; nothing where `theta` is found."""
    matrix, link = model.matrix, model.layout.link
    null, settled = linalg.null_space(matrix), settled_parameters(matrix)
    centre = described_robot(model)
    middle, ratio = sized(barriers(model, centre)[1], matrix, beta)
    positive = positive_parameters(model.full)
    own = np.asarray(centre + np.linalg.pinv(matrix) @ (beta - matrix @ centre))
    single = np.zeros(own.size)
    apart = positive[settled[positive]]
    single[apart] = np.maximum(-own[apart], 0.0)
    for kind in {model.full.parameters[k].kind for k in apart}:
        group = [k for k in apart if model.full.parameters[k].kind is kind]
        size = np.abs(own[group]).max()
        single[group] = np.where(single[group] > _NEGATIVE * size, single[group], 0.0)
    coupled = positive[~settled[positive]]
    bodies = np.zeros((own.size, len(link) + coupled.size))
    for i, columns in enumerate(link):
        bodies[columns, i] = ratio * round_body(centre[columns])
    for i, k in enumerate(coupled):
        j = model.full.parameters[k].joint
        bodies[k, len(link) + i] = bodies[model.layout.axis_inertia[j], j]
    origin = own.copy()
    origin[apart] = middle.prior[apart]  # judged by themselves
    directions = np.hstack([null, bodies])
    m, count = null.shape[1], bodies.shape[1]
    start = np.zeros(m + count)
    start[m:] = _needed(middle, origin, bodies, coupled)
    region = Region(middle, origin, directions, np.arange(m, m + count))
    cost = Quadratic(
        np.zeros((0, m + count)), np.zeros(0), np.concatenate([np.zeros(m), np.ones(count)])
    )

    def inside(u: Array) -> bool:
        return middle.contains(origin + null @ u[:m])

    u = minimise(cost, region, start, LACK_ACCURACY, inside)
    theta = origin + null @ u[:m]
    theta[apart] = np.maximum(own[apart], 0.0)
    found = inside(u)
    lacking = np.zeros(count) if found else np.where(u[m:] > TOLERANCE, u[m:], 0.0)
    single[coupled] = lacking[len(link) :] * bodies[coupled, len(link) + np.arange(coupled.size)]
    return Lacks(
        ratio * lacking[: len(link)], single, theta if found and not single.any() else None
    )


def _needed(middle: Consistent, origin: Array, bodies: Array, coupled: NDArray[np.int64]) -> Array:
    """(n + c,) how many bodies make each link one body larger than the smallest possible."""
    P, S = middle.bodies(origin), middle.bodies(bodies.sum(axis=1))
    least = np.array([linalg.eigh(a, b, eigvals_only=True)[0] for a, b in zip(P, S, strict=True)])
    rotors = origin[coupled] / bodies[coupled, len(P) + np.arange(coupled.size)]
    return 1.0 + np.maximum(-np.concatenate([least, rotors]), 0.0)


def least_squares_inside(model: BaseModel, R: Array, target: Array, accuracy: float) -> Array:
    """theta (p,) of the set, with the known values, with the least 1/2 |R matrix theta - target|^2,
    to `accuracy`. R (k, b) and target (k,) count in standard deviations.

    Where several theta have the same base parameters, one near the description.
    """
    plain = np.asarray(np.linalg.lstsq(R, target, rcond=None)[0], dtype=np.float64)
    barrier = sized(barriers(model, described_robot(model))[0], model.matrix, plain)[0]
    p, RB = barrier.prior.size, R @ model.matrix
    if (known := model.full.known) is None:
        cost = Quadratic(RB, target, np.zeros(p))
        return minimise(cost, Region(barrier, np.zeros(p)), barrier.prior, accuracy)
    barrier, T = with_known(barrier, known), known.directions
    start, u = barrier.prior, np.zeros(T.shape[1])
    region = Region(barrier, start, T)
    cost = Quadratic(RB @ T, target - RB @ start, u)
    return region.theta(minimise(cost, region, u, accuracy))


def has_known(model: BaseModel, beta: Array) -> bool:
    """Whether physical parameters with the known values have the base parameters beta (b,), which
    physical parameters have.
    """
    if (known := model.full.known) is None:
        return True
    around, middle = barriers(model, described_robot(model))
    own, middle = (replace(each, known=known) for each in (around, middle))
    rows, values = (
        np.vstack([known.rows, model.matrix]),
        np.concatenate([known.targets, beta]),
    )
    moves = np.ones(around.prior.size, dtype=bool)
    return least_barrier(own, middle, rows, values, moves) is not None
