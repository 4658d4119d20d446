"""Where the exact method starts and what its barrier is centred on: parameters that a machine can
have.

From the robot's description where that is complete, else generic: each link 2 kg with a radius of
gyration of 0.1 m, rotors of 0.3 of the inertia that the loop was tuned for (or links, where there
is no rotor), viscous and Coulomb friction of 0.2 and 0.3 of the torque.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.laws import ComputedTorque, OwnLaw
from didim.control.tuning import largest_inertias
from didim.dynamics.barrier import Problem
from didim.dynamics.consistent import Consistent
from didim.dynamics.model import BaseModel
from didim.identification.closed_loop import ClosedLoop
from didim.robot.inertia import GENERIC_GYRATION_RADIUS, GENERIC_MASS, about_origin, is_body

Array = NDArray[np.float64]

ROTOR, VISCOUS, COULOMB = 0.3, 0.2, 0.3
"""Shares of the loop's inertia, of torque over velocity, and of torque."""

NEAR = 0.03
"""Relative distance to which given base parameters are met."""

FIRM = 1.0
"""Weight of the barrier meanwhile: parameters that no machine has would else pull to the very
boundary of the set.
"""


def prior_of(model: BaseModel, closed: ClosedLoop, loop: Controller | None) -> Consistent:
    """The prior for a model and its records."""
    torque, velocity = _sizes(closed)
    theta = _generic_links(model)
    J = _loop_inertia(model, loop, theta)
    _carry_rotors(model, ROTOR * J, theta)
    scale = np.ones(theta.size)
    friction = {
        "dq": VISCOUS * torque / velocity,
        "slip": COULOMB * torque,
        "ddq": ROTOR * J,
        "one": torque,
    }
    for entry in model.layout.entries:
        size = friction[entry.signal.rstrip("+-")][entry.row]
        theta[entry.column], scale[entry.column] = size, size
    full, names = model.full, model.full.parameter_names
    consistent = Consistent(full, theta, scale)
    theta[consistent.free] = 0.0
    described = full.nominal
    if np.isfinite(described).all():
        for columns in model.layout.link:
            if is_body(described[columns]):
                theta[columns] = described[columns]
        for k in consistent.positive:
            theta[k] = described[k] if described[k] > 0 else theta[k]
    if not consistent.contains(theta):
        raise AssertionError(f"the prior of {names} is not consistent")
    return Consistent(full, theta, scale)


def towards(consistent: Consistent, model: BaseModel, base: Array) -> Consistent:
    """The prior moved to where its base parameters are the given ones (b,), as near as a machine
    can have them.
    """
    size = np.maximum(np.abs(base), np.abs(model.matrix @ consistent.prior))
    weight = np.diag(1.0 / (NEAR * np.where(size > 0, size, 1.0)))
    problem = Problem(
        consistent, model.matrix, weight, weight @ base, np.zeros(0), np.zeros(0), FIRM
    )
    theta, _ = problem.solve(consistent.prior, np.zeros(0))
    return Consistent(consistent.model, theta, consistent.scale)


def _sizes(closed: ClosedLoop) -> tuple[Array, Array]:
    """Standard deviation of the torque and rms velocity of the reference (or of the measured
    motion), each (n,).
    """
    torque = np.concatenate([np.asarray(record.tau) for record in closed.records]).std(axis=0)
    motion = [
        np.gradient(q, np.asarray(r.t), axis=0)
        for q, r in zip(closed.references, closed.records, strict=True)
    ]
    velocity = np.sqrt(np.mean(np.concatenate(motion) ** 2, axis=0))
    return np.maximum(torque, 1e-6 * torque.max()), np.where(velocity > 0, velocity, 1.0)


def _generic_links(model: BaseModel) -> Array:
    """(p,) links of the generic mass and gyration, everything else zero."""
    theta = np.zeros(len(model.full.parameter_names))
    theta[model.layout.link] = about_origin(
        GENERIC_MASS, np.zeros(3), GENERIC_MASS * GENERIC_GYRATION_RADIUS**2 * np.eye(3)
    )
    return theta


def _carry_rotors(model: BaseModel, least: Array, theta: Array) -> None:
    """Give links at least the inertia `least` (n,) about, or mass along, those joints that have no
    rotor parameter to carry it.

    A loop that was tuned for much more inertia than the prior has may be unstable with it.
    """
    rotors = {entry.row for entry in model.layout.entries if entry.signal == "ddq"}
    for j, joint in enumerate(model.robot.joints):
        if j not in rotors:
            mass = max(GENERIC_MASS, least[j]) if joint.kind == "prismatic" else GENERIC_MASS
            inertia = max(
                mass * GENERIC_GYRATION_RADIUS**2, 0.0 if joint.kind == "prismatic" else least[j]
            )
            theta[model.layout.link[j]] = about_origin(mass, np.zeros(3), inertia * np.eye(3))


def _loop_inertia(model: BaseModel, loop: Controller | None, links: Array) -> Array:
    """(n,) inertia that the loop's gains were tuned for, kv g / (2 zeta omega_n); that of the links
    where it tells none.
    """
    J = largest_inertias(model.full, links)
    if loop is None or loop.by_poles or isinstance(loop, ComputedTorque | OwnLaw):
        return J
    g = np.abs(np.diag(loop.drive(model)))
    gains = loop.gains(model.robot.n, np.where(g > 0, g, 1.0), J)
    return np.where(g > 0, gains.kv * g / (4.0 * np.where(gains.kp > 0, gains.kp, 1.0)), J)
