"""How accelerations change in many directions at once, M d(ddq) = share d(tau) - W - (d tau/d q)
d(q) - (d tau/d dq) d(dq), as machine code for n joints: what `driven` of the simulation's kernels
does for any number of them.

All n rows of a few directions stay in the vector registers, from the right-hand side through both
substitutions.
"""

from __future__ import annotations

from functools import cache

from didim.dynamics.codegen.robot_code import MOST_JOINTS
from didim.dynamics.codegen.trace import Trace, Vector
from didim.jit.lane_code import LaneProgram, lane_code
from didim.jit.machine_code import MachineCode, generic

LANES = 8
"""Directions at once: the registers hold those of seven joints. Four are slower for up to six
joints and no faster for more.
"""


def driven_code(n: int, torque: bool = True, ahead: bool = False) -> MachineCode | None:
    """The code for n joints, with or without d(tau); None where the kernel does its work, see
    `robot_code`.

    `ahead`: d(q) and d(dq) are those of a stage that lies a = reach[0] ahead of y and of whose
    velocity the rate `before` was known at b = reach[1]: d(dq) = y_dq + a last, d(q) = y_q +
    a (y_dq + b before). They are written into x.
    """
    return None if n > MOST_JOINTS or generic() else _compiled(n, torque, ahead)


@cache
def _compiled(n: int, torque: bool, ahead: bool) -> MachineCode:
    return lane_code(_program(n, torque, ahead))


def _program(n: int, torque: bool, ahead: bool) -> LaneProgram:
    code = Trace()
    x: Vector = _stage(code, n) if ahead else [f"x[{i}]" for i in range(2 * n)]
    force: Vector = [
        code.sub(code.mul(f"share[{i}]", f"tau[{i}]") if torque else 0.0, f"W[{i}]")
        for i in range(n)
    ]
    for slopes, moved in (("by_q", x[:n]), ("by_dq", x[n:])):
        for k in range(n):
            force = [
                code.sub(force[i], code.mul(f"{slopes}[{i * n + k}]", moved[k])) for i in range(n)
            ]
    for order in (range(n), range(n - 1, -1, -1)):
        for done, k in enumerate(order):
            force[k] = code.mul(force[k], f"L[{k * n + k}]")
            for i in order[done + 1 :]:
                low, high = sorted((i, k))
                force[i] = code.sub(force[i], code.mul(f"L[{high * n + low}]", force[k]))
    outputs = [
        (f"x[{i}]" if ahead else f"K[{i - n}]", x[i]) for i in range(0 if ahead else n, 2 * n)
    ]
    outputs += [(f"K[{n + i}]", force[i]) for i in range(n)]
    share, tau = (("share",), ("tau",)) if torque else ((), ())
    reach = ("reach",) if ahead else ()
    arrays = ("by_q", "by_dq", *share, "L", *reach)
    states = ("y", "last", "before", "x") if ahead else ("x",)
    tables = ("W", *tau, *states, "K")
    return LaneProgram(arrays, tables, code.statements, outputs, LANES)


def _stage(code: Trace, n: int) -> Vector:
    """d(q) and d(dq) of a stage ahead."""
    a, b = "reach[0]", "reach[1]"
    dq = [code.add(f"y[{n + i}]", code.mul(a, f"last[{i}]")) for i in range(n)]
    rate = [code.add(f"y[{n + i}]", code.mul(b, f"before[{i}]")) for i in range(n)]
    return [code.add(f"y[{i}]", code.mul(a, rate[i])) for i in range(n)] + dq
