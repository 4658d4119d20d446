"""A physically consistent robot to start from, and what the barrier is centred on.

From the robot's description where that is complete, else generic: each link 2 kg with a radius of
gyration of 0.1 m, rotors of 0.3 of the inertia that the loop was tuned for (or links, where there
is no rotor), viscous and Coulomb friction of 0.2 and 0.3 of the torque.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.barrier import Problem
from didim.dynamics.closest import with_known
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.robot.inertia import GENERIC_GYRATION_RADIUS, GENERIC_MASS, about_origin, is_body

Array = NDArray[np.float64]

ROTOR_FRACTION, VISCOUS_FRACTION, COULOMB_FRACTION = 0.3, 0.2, 0.3
"""Of the loop's inertia, of torque over velocity, and of torque."""

BASE_TOLERANCE = 0.03
"""Relative distance to which given base parameters are met."""

MIN_DESCRIBED = 1e-9
"""Smallest described friction or rotor inertia over the generic one: the inverse of a smaller one,
which the barrier needs, overflows.
"""

FIRM_BARRIER = 1.0
"""Weight of the barrier meanwhile: base parameters that are not physically consistent would else
pull to the very boundary of the set.
"""


def generic_links(model: BaseModel) -> Array:
    """(p,) links of the generic mass and radius of gyration, everything else zero."""
    theta = np.zeros(len(model.full.parameter_names))
    theta[model.layout.link] = about_origin(
        GENERIC_MASS, np.zeros(3), GENERIC_MASS * GENERIC_GYRATION_RADIUS**2 * np.eye(3)
    )
    return theta


def prior_of(model: BaseModel, inertia: Array, torque: Array, velocity: Array) -> Consistent:
    """The prior for a model, from the inertia (n,) that its loop was tuned for, the standard
    deviation of the torque (n,) and the rms velocity (n,).
    """
    theta = generic_links(model)
    _carry_rotors(model, ROTOR_FRACTION * inertia, theta)
    scale = np.ones(theta.size)
    sizes = {
        "dq": VISCOUS_FRACTION * torque / velocity,
        "slip": COULOMB_FRACTION * torque,
        "ddq": ROTOR_FRACTION * inertia,
        "one": torque,
    }
    terms = _largest_terms(model, torque, velocity)
    for entry in model.layout.entries:
        if entry.signal == "term":
            is_friction = model.full.parameters[entry.column].kind.is_friction
            share = COULOMB_FRACTION if is_friction else 1.0
            size = share * torque[entry.row] / terms[entry.column]
        else:
            follows = model.full.parameters[entry.column].joint >= model.robot.n
            size = sizes[entry.signal.rstrip("+-")][entry.row]
            size = size / abs(entry.weight) if follows else size
        theta[entry.column], scale[entry.column] = size, size
    full = model.full
    consistent = Consistent(full, theta, scale)
    theta[consistent.free] = 0.0
    described = full.nominal
    if np.isfinite(described).all():
        for columns in model.layout.link:
            if is_body(described[columns]):
                theta[columns] = described[columns]
        for k in consistent.positive:
            if described[k] > 0:
                theta[k] = max(described[k], MIN_DESCRIBED * theta[k])
    if not consistent.contains(theta):
        raise AssertionError(f"the prior of {full.parameter_names} is not consistent")
    return with_known(Consistent(full, theta, scale), full.known)


def _largest_terms(model: BaseModel, torque: Array, velocity: Array) -> Array:
    """(p,) the largest torque that a unit of each parameter gives at positions over a turn,
    velocities from rest to three times the rms, and loads of the size of the torque.
    """
    full, rows = model.full, 200
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (rows, model.robot.n))
    dq = 3.0 * velocity * np.linspace(0.0, 1.0, rows)[:, None] ** 2
    signals = {name: np.ones(rows) for name in model.channels}
    if model.loaded:
        signals["load"] = np.tile(torque, (rows, 1))
    slip = np.ones((rows, len(model.contacts)))
    largest = np.abs(full.regressor(q, dq, 0.0 * q, slip, signals)).max(axis=(0, 1))
    return np.where(largest > 0, largest, 1.0)


def nearest_consistent(prior: Consistent, model: BaseModel, base: Array) -> Array:
    """(p,) physically consistent parameters whose base parameters are the given ones (b,), as
    nearly as they can be.
    """
    size = np.maximum(np.abs(base), np.abs(model.matrix @ prior.prior))
    weight = np.diag(1.0 / (BASE_TOLERANCE * np.where(size > 0, size, 1.0)))
    problem = Problem(
        prior, model.matrix, weight, weight @ base, np.zeros(0), np.zeros(0), FIRM_BARRIER
    )
    return problem.solve(prior.prior, np.zeros(0))[0]


def _carry_rotors(model: BaseModel, least: Array, theta: Array) -> None:
    """Give links at least the inertia `least` (n,) about, or mass along, those joints that have no
    rotor parameter to carry it.

    A loop that was tuned for much more inertia than the prior has may be unstable with it.
    """
    rotors = {entry.row for entry in model.layout.entries if entry.signal == "ddq"}
    for j, joint in enumerate(model.robot.coordinates):
        if j not in rotors:
            mass = max(GENERIC_MASS, least[j]) if joint.kind == "prismatic" else GENERIC_MASS
            inertia = max(
                mass * GENERIC_GYRATION_RADIUS**2, 0.0 if joint.kind == "prismatic" else least[j]
            )
            theta[model.layout.link[j]] = about_origin(mass, np.zeros(3), inertia * np.eye(3))
