"""A robot's own machine code for sensitivities: d tau/d q, d tau/d dq and the link columns of the
regressor, at the motions of all stages of a step side by side in the vector registers.

The columns that a model leaves out are not computed.
"""

from __future__ import annotations

from functools import lru_cache

from didim.dynamics.codegen.derivatives import link_columns, link_derivatives, twists
from didim.dynamics.codegen.recursions import place
from didim.dynamics.codegen.robot_code import MOST_JOINTS, FrozenArray, frozen, thawed
from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.kernels.regressor import Columns
from didim.dynamics.kernels.tree import Tree
from didim.jit.lane_code import LaneProgram, lane_code
from didim.jit.machine_code import MachineCode, generic
from didim.jit.statements import Symbol

STAGES_PER_PAIR = 500
"""Evaluations that a run must need, over the square of its joints, for its code to be compiled: it
takes 0.25 s for six joints and saves 1 us an evaluation, in a run that an identification makes a
dozen times.
"""

STAGES = 4
"""Motions at once: those of the stages of a step."""

_ARRAYS = ("link", "viscous", "viscous_positive", "viscous_negative", "kp")
_MOTION = ("q", "cos", "sin", "dq", "ddq")
_TABLES = (*_MOTION, "slope", "slip")


def motion_code(
    tree: Tree, columns: Columns, contacts: int, width: int, stages: float
) -> MachineCode | None:
    """The code for a regressor of `width` columns, for a run of so many `stages`; None where the
    kernels do its work: the run is too short, joints follow others, or there is no `robot_code`.
    """
    n = tree.parent.size
    if n > MOST_JOINTS or generic() or tree.ties != 0 or stages < STAGES_PER_PAIR * n * n:
        return None
    return _compiled(width, contacts, *frozen(tree, columns))


@lru_cache(maxsize=32)
def _compiled(width: int, contacts: int, *arrays: FrozenArray) -> MachineCode:
    tree, columns = thawed(arrays)
    return lane_code(_program(tree, Columns(*columns), contacts, width))


def _program(tree: Tree, columns: Columns, contacts: int, width: int) -> LaneProgram:
    """From `_ARRAYS`, which are numbers of the robot and of its law, and `_TABLES` (rows, STAGES):
    by_q (STAGES, n, n), by_dq (STAGES, n, n) and W (STAGES, n, width), without effects that are
    expressions. The slope (n, STAGES) of the law is that by velocity, kp times it that by position.
    """
    code, n = Trace(), int(tree.parent.size)
    q, cos, sin, dq, ddq = ([f"{name}[{i}]" for i in range(n)] for name in _MOTION)
    links: list[Vector] = [[f"link[{10 * i + k}]" for k in range(10)] for i in range(n)]
    frames = place(code, tree, list(q), list(cos), list(sin))
    gravity: Vector = [float(g) for g in tree.gravity]
    motion = twists(code, frames, gravity, list(dq), list(ddq))
    by_q, by_dq = link_derivatives(code, frames, links, motion)
    outputs: list[tuple[str, Symbol]] = []
    for i in range(n):
        law = f"slope[{i}]"
        sign = code.apply("sign", dq[i])
        forth = code.mul(f"viscous_positive[{i}]", code.apply("max", sign, 0.0))
        back = code.mul(f"viscous_negative[{i}]", code.apply("min", sign, 0.0))
        by_q[i][i] = code.add(by_q[i][i], code.mul(f"kp[{i}]", law))
        by_dq[i][i] = code.add(by_dq[i][i], code.add(law, code.sub(forth, back)))
        for j in range(n):
            at = i * n + j
            outputs.append((f"by_q[{at}]", by_q[i][j]))
            outputs.append((f"by_dq[{at}]", code.add(f"viscous[{at}]", by_dq[i][j])))
    for i, carrying in enumerate(link_columns(code, frames, motion)):
        for j, ten in carrying.items():
            to = columns.link[i]
            kept = [(int(c), each) for c, each in zip(to, ten, strict=True) if c >= 0]
            outputs += [(f"W[{j * width + c}]", each) for c, each in kept]
    effects = _effect_columns(code, columns, contacts, list(dq), list(ddq))
    outputs += [(f"W[{i * width + c}]", each) for (i, c), each in effects.items()]
    blocks = (("by_q", n * n), ("by_dq", n * n), ("W", n * width))
    used = code.behind([each for _, each in outputs])
    return LaneProgram(_ARRAYS, _TABLES, used, outputs, STAGES, blocks)


def _effect_columns(
    code: Trace, columns: Columns, contacts: int, dq: Vector, ddq: Vector
) -> dict[tuple[int, int], Symbol]:
    """Row and column of W, and what effects that are no expressions write there: the sources of
    `fill_sources`.
    """
    slip: Vector = [f"slip[{k}]" for k in range(contacts)]
    sources = [*ddq, *dq, *_both_ways(code, dq), *slip, *_both_ways(code, slip), 1.0]
    found: dict[tuple[int, int], Symbol] = {}
    entries = zip(columns.row, columns.column, columns.source, columns.weight, strict=True)
    for row, column, source, weight in entries:
        if column >= 0 and source < len(sources):
            at = int(row), int(column)
            torque = code.mul(float(weight), sources[source])
            found[at] = code.add(found.get(at, 0.0), torque)
    return found


def _both_ways(code: Trace, x: Vector) -> Vector:
    """max(x, 0), then min(x, 0)."""
    return [code.apply(way, each, 0.0) for way in ("max", "min") for each in x]
