"""Inertial parameters of a rigid body: ten numbers XX XY XZ YY YZ ZZ MX MY MZ M, inertia about the
frame's origin (eq. 3).

Units: kg m^2, kg m, kg. All functions are linear in the parameters unless said otherwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_UPPER = np.triu_indices(3)

GENERIC_MASS, GENERIC_GYRATION_RADIUS = 2.0, 0.1
"""kg and m: mass and radius of gyration of a link whose inertia is unknown."""

MIN_EIGENVALUE_RATIO = 1e-6
"""Smallest eigenvalue of a link's pseudo-inertia over the largest, below which its description is
not used.
"""


def about_origin(mass: float, centre: ArrayLike, inertia: ArrayLike) -> Array:
    """The ten parameters (10,) of a body given by its mass, centre (3,) and inertia (3, 3) about
    that centre (Huygens).
    """
    c = np.asarray(centre, dtype=float)
    J = np.asarray(inertia, dtype=float) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([J[_UPPER], mass * c, [mass]])


def about_centre(link: ArrayLike) -> tuple[float, Array, Array]:
    """Mass, centre (3,) and inertia (3, 3) about that centre of the ten parameters of a body whose
    mass is not zero.
    """
    link = np.asarray(link, dtype=float)
    mass, c = float(link[9]), link[6:9] / link[9]
    return mass, c, symmetric(link[:6]) - mass * (c @ c * np.eye(3) - np.outer(c, c))


def symmetric(six: ArrayLike) -> Array:
    """The matrix (3, 3) whose upper triangle, row by row, is `six`."""
    J = np.zeros((3, 3))
    J[_UPPER] = np.asarray(six, dtype=float)
    return J + np.triu(J, 1).T


def transformed(link: ArrayLike, rotation: Array, translation: Array) -> Array:
    """The parameters (10,) of the same body in another frame, where x' = rotation @ x +
    translation.
    """
    link = np.asarray(link, dtype=float)
    if np.array_equal(rotation, np.eye(3)) and not np.any(translation):
        return link.copy()  # values that are not given (nan) must not spread to those that are
    J, S, mass, p = symmetric(link[:6]), rotation @ link[6:9], link[9], translation
    moved = rotation @ J @ rotation.T + 2 * (p @ S) * np.eye(3) - np.outer(p, S) - np.outer(S, p)
    moved += mass * (p @ p * np.eye(3) - np.outer(p, p))
    return np.concatenate([moved[_UPPER], S + mass * p, [mass]])


def transfer_matrix(rotation: Array, translation: Array) -> Array:
    """The (10, 10) matrix of `transformed`: Gautier and Khalil's lambda."""
    return np.stack([transformed(unit, rotation, translation) for unit in np.eye(10)], axis=1)


def pseudo_inertia(link: ArrayLike) -> Array:
    """The 4 x 4 matrix [[tr(J)/2 1 - J, MS], [MS', M]], positive definite if and only if the body
    is physically consistent.
    """
    link = np.asarray(link, dtype=float)
    J = symmetric(link[:6])
    P = np.zeros((4, 4))
    P[:3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    P[:3, 3] = P[3, :3] = link[6:9]
    P[3, 3] = link[9]
    return P


def is_consistent(link: ArrayLike) -> bool:
    """Whether some distribution of positive mass has these ten parameters."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(link))[0] > 0.0)


def is_body(link: ArrayLike) -> bool:
    """Whether the ten parameters are physically consistent, with a margin."""
    values = np.linalg.eigvalsh(pseudo_inertia(link))
    return bool(values[0] > MIN_EIGENVALUE_RATIO * values[-1])
