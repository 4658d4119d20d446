"""The inverse dynamics (1) of one robot with its parameters as numbers, statement by statement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from didim.dynamics.codegen.recursions import link_torque, move, place
from didim.dynamics.codegen.ties import gather_torque, spread
from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.kernels.tree import Values
from didim.dynamics.torque import TorqueModel
from didim.export.terms import add_terms, one_sided, sided
from didim.jit.statements import Symbol, shown


@dataclass(frozen=True, eq=False)
class Statements:
    """From q[], dq[], ddq[], slip[] and channels[] to the torques."""

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
    links = [_numbers(ten) for ten in values.link]
    tied, gravity = model.layout.tied, _numbers(tree.gravity)
    q = spread(code, tied, _each("q", n), positions=True)
    cos, sin = ([code.let(f"{name}({shown(x)})") for x in q] for name in ("cos", "sin"))
    frames = place(code, tree, q, list(cos), list(sin))
    rates = (spread(code, tied, _each(signal, n)) for signal in ("dq", "ddq"))
    tau = gather_torque(
        code, tied, link_torque(code, frames, links, move(code, frames, gravity, *rates))
    )
    contact = [_row(code, values.contact[c], "dq") for c in range(len(model.contacts))]
    for i in range(n):
        tau[i] = code.add(tau[i], _row(code, values.armature[i], "ddq"))
        tau[i] = code.add(tau[i], _row(code, values.viscous[i], "dq"))
        tau[i] = code.add(tau[i], one_sided(code, values, i))
        tau[i] = code.add(tau[i], float(values.offset[i]))
    coulomb = [_coulomb(code, values, c) for c in range(len(model.contacts))]
    for c, strength in enumerate(coulomb):
        for i in range(n):
            tau[i] = code.add(tau[i], code.mul(float(values.contact[c, i]), strength))
    add_terms(code, model.layout.terms, values, coulomb, tau)
    return Statements(code.needed(tau), tau, contact, code.needed(contact))


def _coulomb(code: Trace, values: Values, c: int) -> Symbol:
    """Force of contact c, without terms."""
    limits = float(values.limit_positive[c]), float(values.limit_negative[c])
    return sided(code, *limits, f"slip[{c}]")


def _numbers(values: np.ndarray) -> Vector:
    return [float(value) for value in values]


def _each(signal: str, n: int) -> Vector:
    return [f"{signal}[{i}]" for i in range(n)]


def _row(code: Trace, weights: np.ndarray, signal: str) -> Symbol:
    """weights' signal."""
    return code.dot([float(weight) for weight in weights], _each(signal, len(weights)))
