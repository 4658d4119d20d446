"""Law, friction and acceleration of all joints at one instant as machine code: what `rates` of
`kernels/plant.py` does while no joint saturates, for a law of gains alone and effects without
expressions.

The robot's own code (`dynamics/codegen/robot_code.py`) comes before it and leaves the factor of M
and the forces of the links. This code knows the number of joints, which joints a contact couples,
and what the law reads; all numbers are arguments. Every operation is that of the kernels, in their
order: the results are the same to the last bit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import GAINS_ONLY, Law
from didim.dynamics.codegen.robot_code import robot_code
from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.torque import TorqueModel
from didim.jit.machine_code import MachineCode, Program, machine_code
from didim.jit.statements import Symbol
from didim.simulation.kernels.contact import REST_SPEED, SMOOTH
from didim.simulation.kernels.plant import (
    CONTINUOUS,
    LARGEST_TORQUE,
    OPEN,
    RUNAWAY_SPEED,
    Plant,
)

ARRAYS = ("y", "rate", "value", "slope")
"""Arguments, in order: state, its rates, and the cubics of the reference; then the numbers h and u,
s. All other arrays stay where they are during a run, see `pointer_table`.
"""


_TABLE = {
    "work": ("M", "bias"),
    "values": (
        *("viscous", "viscous_positive", "viscous_negative", "offset"),
        *("limit_positive", "limit_negative"),
    ),
    "law": ("kp", "kv", "ki", "kiv", "ff", "gain", "saturation"),
    "controller_state": ("reference", "seen", "error", "integral"),
    "contacts": ("limit", "speed", "force", "smooth"),
    "instant": ("v", "tau", "ddq", "slip"),
}
"""Records of a plant and their arrays that the code reads and writes."""


def pointer_table(plant: Plant) -> NDArray[np.int64]:
    """Addresses of the arrays of `_TABLE`, which must live as long as the plant is used."""
    arrays = (getattr(getattr(plant, record), name) for record, name in _table())
    return np.array([each.__array_interface__["data"][0] for each in arrays], dtype=np.int64)


def _table() -> list[tuple[str, str]]:
    return [(record, name) for record, names in _TABLE.items() for name in names]


class Kind(NamedTuple):
    """What the code depends on."""

    n: int
    contact: tuple[tuple[float, ...], ...]  # (c, n)
    coupled: bool  # whether viscous friction couples joints
    one_way: bool  # whether friction depends on the direction
    smooth: bool
    continuous: bool  # whether the law acts at every instant
    reads: int  # of the reference: positions, or velocities too
    integrates: bool
    saturates: bool

    @property
    def ordinary(self) -> int:
        """Conditions of the code before those of contacts."""
        return 4 + (self.n if self.saturates else 0)


class RunCode(NamedTuple):
    """The machine code of a robot and of its instants in a loop, as far as there is any. It must
    live as long as the run.
    """

    robot: MachineCode | None
    instant: MachineCode | None
    ordinary: int
    """Conditions of the latter under which it can be used at all; the next are of contacts."""


def run_code(model: TorqueModel, law: Law, drive: int, friction: int) -> RunCode:
    """The code of a run."""
    robot = robot_code(model.tree, model.layout.tied)
    kind = None if robot is None else _kind(model, law, drive, friction)
    if kind is None:
        return RunCode(robot, None, 0)
    return RunCode(robot, _compiled(kind), kind.ordinary)


def _kind(model: TorqueModel, law: Law, drive: int, friction: int) -> Kind | None:
    """None where `rates` does all work itself: joints follow others, effects are expressions, the
    torque is given, or a continuous law has a model or couples joints.
    """
    continuous, layout = drive == CONTINUOUS, model.layout
    if (
        drive == OPEN
        or layout.terms.terms
        or layout.tied is not None
        or (continuous and (law.kind != GAINS_ONLY or law.coupled))
    ):
        return None
    one_way = any(entry.signal in ("dq+", "dq-", "slip+", "slip-") for entry in layout.entries)
    return Kind(
        n=model.robot.n,
        contact=tuple(map(tuple, layout.contact.tolist())),
        coupled=bool(layout.coupled),
        one_way=one_way,
        smooth=friction == SMOOTH,
        continuous=continuous,
        reads=int(law.reads) if continuous else 0,
        integrates=continuous and bool(law.ki.any() or law.kiv.any()),
        saturates=continuous and bool(np.isfinite(law.saturation).any()),
    )


@lru_cache(maxsize=32)
def _compiled(kind: Kind) -> MachineCode:
    return machine_code(_program(kind))


class _Writer:
    """Statements, what they write, and the conditions under which that holds."""

    def __init__(self) -> None:
        self.code = Trace()
        self.outputs: list[tuple[str, Symbol]] = []
        self.conditions: list[Symbol] = []

    def write(self, name: str, values: Vector, first: int = 0) -> None:
        """Elements of an array, from `first` on."""
        self.outputs += [(f"{name}[{first + k}]", each) for k, each in enumerate(values)]

    def below(self, x: Vector, limit: float) -> None:
        """The root of the sum of squares of x must be below a limit."""
        self.conditions.append(self.code.sub(limit**2, self.code.dot(x, x)))

    def beyond(self, x: Symbol, limit: Symbol) -> None:
        """x must be larger than a limit."""
        self.conditions.append(self.code.sub(x, limit))


def _elements(name: str, count: int, first: int = 0) -> Vector:
    return [f"{name}[{first + k}]" for k in range(count)]


def _program(kind: Kind) -> Program:
    """From `ARRAYS`, h and u; it returns -1, or the first condition that does not hold: at first
    those under which this code may be used at all, then those of contacts that keep sliding.
    """
    to, n = _Writer(), kind.n
    q, dq = _elements("y", n), _elements("y", n, n)
    to.below(q, RUNAWAY_SPEED**2)
    to.below(dq, RUNAWAY_SPEED)
    tau = _law(to, kind, q, dq) if kind.continuous else _elements("tau", n)
    to.below(tau, LARGEST_TORQUE)
    speed, slip, force = _friction(to, kind, dq)
    ddq = _acceleration(to, kind, dq, tau, force)
    to.below(ddq, LARGEST_TORQUE)
    if not kind.smooth:
        for of_dq, u in zip(kind.contact, speed, strict=True):
            ahead = to.code.add(u, to.code.mul("h", _row(to.code, of_dq, ddq)))
            to.beyond(to.code.apply("abs", u), REST_SPEED)
            to.beyond(to.code.mul(u, ahead), 0.0)
    to.write("slip", slip)
    to.write("rate", [*dq, *ddq])
    to.write("ddq", ddq)
    conditions: list[tuple[Symbol, Symbol]] = [(each, 0.0) for each in to.conditions]
    table = tuple(name for _, name in _table())
    return Program(ARRAYS, to.code.statements, to.outputs, conditions, 0.0, ("h", "u"), table)


def _law(to: _Writer, kind: Kind, q: Vector, dq: Vector) -> Vector:
    """(53) and tau = g v (8), with a reference that is a cubic of u; no command may saturate."""
    code, n = to.code, kind.n
    signals = [_cubic(code, name, n) for name in ("value", "slope")[: kind.reads]]
    e = [code.sub(r, at) for r, at in zip(signals[0], q, strict=True)]
    s, v, tau = Vector(), Vector(), Vector()
    for j in range(n):
        fed = code.mul(f"ff[{j}]", signals[1][j]) if kind.reads > 1 else 0.0
        followed = code.add(code.mul(f"kp[{j}]", e[j]), fed)
        s.append(code.sub(followed, dq[j]))
        v.append(code.mul(f"kv[{j}]", s[j]))
        if kind.integrates:
            of_e = code.mul(f"ki[{j}]", f"y[{2 * n + j}]")
            of_s = code.mul(f"kiv[{j}]", f"y[{3 * n + j}]")
            v[j] = code.add(code.add(v[j], of_e), of_s)
        if kind.saturates:
            to.beyond(f"saturation[{j}]", code.apply("abs", v[j]))
        tau.append(code.mul(f"gain[{j * n + j}]", v[j]))
    for k, signal in enumerate(signals):
        to.write("reference", signal, k * n)
    to.write("seen", [*q, *dq])
    to.write("error", [*e, *s])
    to.write("v", v)
    to.write("tau", tau)
    if kind.integrates:
        to.write("integral", _elements("y", 2 * n, 2 * n))
        to.write("rate", [*e, *s], 2 * n)
    return tau


def _cubic(code: Trace, name: str, n: int) -> Vector:
    """((c3 u + c2) u + c1) u + c0 of each joint."""
    found = Vector()
    for j in range(n):
        c = _elements(name, 4, 4 * j)
        inner = code.add(code.mul(c[3], "u"), c[2])
        found.append(code.add(code.mul(code.add(code.mul(inner, "u"), c[1]), "u"), c[0]))
    return found


def _row(code: Trace, row: tuple[float, ...], x: Vector) -> Symbol:
    return code.dot(list(row), x)


def _friction(to: _Writer, kind: Kind, dq: Vector) -> tuple[Vector, Vector, Vector]:
    """Velocity, slip and force of each contact while it slides."""
    code, c = to.code, len(kind.contact)
    speed = [_row(code, row, dq) for row in kind.contact]
    slip = _elements("smooth", c) if kind.smooth else [code.apply("sign", u) for u in speed]
    limits = _elements("limit_positive", c), _elements("limit_negative", c)
    force = [code.mul(limits[0][i], slip[i]) for i in range(c)]
    if kind.one_way:
        parts = [[code.apply(way, x, 0.0) for x in slip] for way in ("max", "min")]
        force = [
            code.add(code.mul(limits[0][i], parts[0][i]), code.mul(limits[1][i], parts[1][i]))
            for i in range(c)
        ]
    to.write("speed", speed)
    to.write("force", force)
    to.write("limit", [*limits[0], *limits[1]])
    return speed, slip, force


def _acceleration(to: _Writer, kind: Kind, dq: Vector, tau: Vector, force: Vector) -> Vector:
    """M ddq = tau - N - D' f (21), with the factor of M."""
    code, n = to.code, kind.n
    bias, ddq = Vector(), Vector()
    for i in range(n):
        one_way: Symbol = f"offset[{i}]"
        for name, way in (("positive", "max"), ("negative", "min")) if kind.one_way else ():
            moved = code.apply(way, dq[i], 0.0)
            one_way = code.add(one_way, code.mul(f"viscous_{name}[{i}]", moved))
        columns = range(n) if kind.coupled else (i,)
        rubbed = code.dot([f"viscous[{i * n + k}]" for k in columns], [dq[k] for k in columns])
        bias.append(code.add(f"bias[{i}]", code.add(one_way, rubbed)))
        ddq.append(code.sub(tau[i], bias[i]))
    for row, f in zip(kind.contact, force, strict=True):
        back = code.mul(-1.0, f)
        ddq = [code.add(x, code.mul(d, back)) for x, d in zip(ddq, row, strict=True)]
    for i in range(n):
        known = code.dot([f"M[{i * n + k}]" for k in range(i)], ddq[:i])
        ddq[i] = code.mul(code.sub(ddq[i], known), f"M[{i * n + i}]")
    for i in reversed(range(n)):
        known = code.dot([f"M[{k * n + i}]" for k in range(i + 1, n)], ddq[i + 1 :])
        ddq[i] = code.mul(code.sub(ddq[i], known), f"M[{i * n + i}]")
    return ddq
