"""Newton-Euler on symbols: the inverse dynamics (1) of one robot with its parameters as numbers, statement by statement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from didim.dynamics.torque import TorqueModel
from didim.export.trace import Symbol, Trace, Vector

ROUND = 1e-15
"""Entries of rotations below this are the rounding of a zero."""


@dataclass(frozen=True, eq=False)
class Statements:
    """From q[], dq[], ddq[] and slip[] to the torques."""

    lines: list[tuple[str, str]]
    """Names and expressions, in order."""
    tau: list[Symbol]
    """(n,)."""
    contact: list[Symbol]
    """(c,) velocity of each Coulomb contact, whose sign is the slip where none is given."""
    motion: list[tuple[str, str]]
    """The statements that these velocities need."""


def inverse_dynamics_statements(model: TorqueModel, parameters: ArrayLike) -> Statements:
    """The statements of tau = M(q) ddq + N(q, dq), eq. 1."""
    code, n = Trace(), model.robot.n
    values, tree = model.values(parameters), model.tree
    R, P = _places(code, model)
    w, dw, dv = _motion(code, model, R, P)
    force: list[Vector] = []
    moment: list[Vector] = []
    for i in range(n):
        ten = [float(x) for x in values.link[i]]
        J: list[Vector] = [[ten[0], ten[1], ten[2]], [ten[1], ten[3], ten[4]], [ten[2], ten[4], ten[5]]]
        MS: Vector = [*ten[6:9]]
        force.append(code.plus(code.scale(ten[9], dv[i]), code.cross(dw[i], MS), code.cross(w[i], code.cross(w[i], MS))))
        moment.append(code.plus(code.times(J, dw[i]), code.cross(w[i], code.times(J, w[i])), code.cross(MS, dv[i])))
    tau: list[Symbol] = [0.0] * n
    for i in reversed(range(n)):
        tau[i] = force[i][2] if tree.prismatic[i] else moment[i][2]
        p = int(tree.parent[i])
        if p >= 0:
            f = code.times(R[i], force[i])
            force[p] = code.plus(force[p], f)
            moment[p] = code.plus(moment[p], code.times(R[i], moment[i]), code.cross(P[i], f))
    contact = [_row(code, values.contact[c], "dq") for c in range(len(model.contacts))]
    strengths = [
        code.add(
            code.mul(float(values.limit_positive[c]), code.let(f"max(slip[{c}], 0.0)")),
            code.mul(float(values.limit_negative[c]), code.let(f"min(slip[{c}], 0.0)")),
        )
        if values.limit_positive[c] != values.limit_negative[c]
        else code.mul(float(values.limit_positive[c]), f"slip[{c}]")
        for c in range(len(model.contacts))
    ]
    for i in range(n):
        tau[i] = code.add(tau[i], _row(code, values.armature[i], "ddq"))
        tau[i] = code.add(tau[i], _row(code, values.viscous[i], "dq"))
        for strength, bound in ((values.viscous_positive[i], "max"), (values.viscous_negative[i], "min")):
            if strength:
                tau[i] = code.add(tau[i], code.mul(float(strength), code.let(f"{bound}(dq[{i}], 0.0)")))
        tau[i] = code.add(tau[i], float(values.offset[i]))
        for c, strength in enumerate(strengths):
            tau[i] = code.add(tau[i], code.mul(float(values.contact[c, i]), strength))
    return Statements(code.needed(tau), tau, contact, code.needed(contact))


def _row(code: Trace, weights: np.ndarray, signal: str) -> Symbol:
    """weights' signal."""
    return code.dot([float(weight) for weight in weights], [f"{signal}[{k}]" for k in range(len(weights))])


def _places(code: Trace, model: TorqueModel) -> tuple[list[list[Vector]], list[Vector]]:
    """Rotation and origin of each frame in its parent's, at q."""
    rotations: list[list[Vector]] = []
    origins: list[Vector] = []
    tree = model.tree
    for i in range(model.robot.n):
        fixed: list[Vector] = [[0.0 if abs(x) < ROUND else float(x) for x in row] for row in tree.rotation[i]]
        origin: Vector = [float(x) for x in tree.translation[i]]
        if tree.prismatic[i]:
            origins.append(code.plus(origin, code.scale(f"q[{i}]", [row[2] for row in fixed])))
            rotations.append(fixed)
            continue
        cos, sin = code.let(f"cos(q[{i}])"), code.let(f"sin(q[{i}])")
        origins.append(origin)
        rotations.append(
            [
                [
                    code.add(code.mul(cos, row[0]), code.mul(sin, row[1])),
                    code.sub(code.mul(cos, row[1]), code.mul(sin, row[0])),
                    row[2],
                ]
                for row in fixed
            ]
        )
    return rotations, origins


def _motion(
    code: Trace, model: TorqueModel, R: list[list[Vector]], P: list[Vector]
) -> tuple[list[Vector], list[Vector], list[Vector]]:
    """Angular velocity and acceleration, and acceleration of the origin less gravity, of each link in its own frame."""
    w: list[Vector] = []
    dw: list[Vector] = []
    dv: list[Vector] = []
    tree = model.tree
    for i in range(model.robot.n):
        p = int(tree.parent[i])
        back = [[R[i][k][m] for k in range(3)] for m in range(3)]
        still: Vector = [0.0, 0.0, 0.0]
        wp, dwp = (still, still) if p < 0 else (w[p], dw[p])
        dvp: Vector = [-float(g) for g in tree.gravity] if p < 0 else dv[p]
        inner, turned = code.times(back, wp), code.times(back, dwp)
        moved = code.times(back, code.plus(dvp, code.cross(dwp, P[i]), code.cross(wp, code.cross(wp, P[i]))))
        rate: Vector = [0.0, 0.0, f"dq[{i}]"]
        acceleration: Vector = [0.0, 0.0, f"ddq[{i}]"]
        if tree.prismatic[i]:
            w.append(inner)
            dw.append(turned)
            dv.append(code.plus(moved, acceleration, code.scale(2.0, code.cross(inner, rate))))
        else:
            w.append(code.plus(inner, rate))
            dw.append(code.plus(turned, acceleration, code.cross(inner, rate)))
            dv.append(moved)
    return w, dw, dv
