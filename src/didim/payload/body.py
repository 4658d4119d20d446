"""One rigid body: the ten parameters that fit best among those of a physical body, and mass, centre
and inertia of ten parameters with their covariance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.cone_program import Quadratic, Region
from didim.dynamics.consistent import Consistent
from didim.dynamics.interior_point import minimise
from didim.dynamics.model import DynamicModel
from didim.robot.inertia import GENERIC_GYRATION_RADIUS, about_origin, is_consistent
from didim.robot.robot import Joint, Robot

Array = NDArray[np.float64]

ACCURACY = 1e-6
"""To which the sum of squares, in standard deviations, is minimised."""

_UPPER = np.triu_indices(3)

_MIN_MASS = 1e-3
"""kg, of the body that the search starts from."""


def physical_body(R: Array, target: Array, plain: Array) -> Array:
    """(10,) the parameters of a physical body with the least |R phi - target|^2, R (k, 10) and
    target (k,) in standard deviations; `plain` (10,) is the least without that bound, and the
    answer where it is such a body.
    """
    if np.isfinite(plain).all() and is_consistent(plain):
        return plain
    start = load_with({"M": max(abs(float(plain[9])), _MIN_MASS)})
    single = DynamicModel(Robot("load", (Joint("load", "revolute"),)), ())
    barrier = Consistent(single, start, np.ones(start.size))
    cost = Quadratic(R, target, np.zeros(start.size))
    return minimise(cost, Region(barrier, np.zeros(start.size)), start, ACCURACY)


def centre_slopes(phi: Array) -> Array:
    """(3, 10) d centre / d phi, centre = MS / M; not finite where M is zero."""
    slopes = np.zeros((3, 10))
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes[:, 6:9] = np.eye(3) / phi[9]
        slopes[:, 9] = -phi[6:9] / phi[9] ** 2
    return slopes


def inertia_slopes(phi: Array) -> Array:
    """(6, 10) d J / d phi of the upper triangle of the inertia about the centre, J = J_0 - (S'S 1 -
    S S') / M; not finite where M is zero.
    """
    S, mass = phi[6:9], phi[9]
    slopes = np.zeros((6, 10))
    slopes[:, :6] = np.eye(6)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k, unit in enumerate(np.eye(3)):
            moved = 2.0 * (S @ unit) * np.eye(3) - np.outer(unit, S) - np.outer(S, unit)
            slopes[:, 6 + k] = -moved[_UPPER] / mass
        slopes[:, 9] = (S @ S * np.eye(3) - np.outer(S, S))[_UPPER] / mass**2
    return slopes


def deviations(slopes: Array, covariance: Array) -> Array:
    """(k,) standard deviations of functions with these slopes (k, 10); infinite where one depends
    on what is not known.
    """
    known = np.isfinite(np.diag(covariance))
    found = np.full(len(slopes), np.inf)
    for i, row in enumerate(slopes):
        used = row != 0
        if np.isfinite(row).all() and known[used].all():
            part = row[used]
            found[i] = np.sqrt(max(float(part @ covariance[np.ix_(used, used)] @ part), 0.0))
    return found


def load_with(known: Mapping[str, float]) -> Array:
    """(10,) a round body with known mass M, kg, and first moments MX MY MZ, kg m."""
    mass = known.get("M", 1.0)
    centre = np.array([known.get(name, 0.0) for name in ("MX", "MY", "MZ")]) / mass
    return about_origin(mass, centre, mass * GENERIC_GYRATION_RADIUS**2 * np.eye(3))
