"""A robot's own machine code for sensitivities: d tau/d q, d tau/d dq and the link columns of the
regressor, at the motions of all stages of a step side by side in the vector registers.

The columns that a model leaves out are not computed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

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

_MOTION = ("q", "cos", "sin", "dq", "ddq")


def motion_code(tree: Tree, columns: Columns, width: int, stages: float) -> MachineCode | None:
    """The code for a regressor of `width` columns, for a run of so many `stages`; None where the
    kernels do its work: the run is too short, joints follow others, or there is no `robot_code`.
    """
    n = tree.parent.size
    if n > MOST_JOINTS or generic() or tree.ties != 0 or stages < STAGES_PER_PAIR * n * n:
        return None
    return _compiled(width, *frozen(tree, (columns.link,)))


@lru_cache(maxsize=32)
def _compiled(width: int, *arrays: FrozenArray) -> MachineCode:
    tree, (link,) = thawed(arrays)
    return lane_code(_program(tree, link, width))


def _program(tree: Tree, column: np.ndarray, width: int) -> LaneProgram:
    """From link (n, 10), viscous (n, n) and tables `_MOTION` (n, STAGES): by_q (STAGES, n, n),
    by_dq (STAGES, n, n) with the viscous friction, and W (STAGES, n, width) where `column` (n, 10)
    says.
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
        for j in range(n):
            at = i * n + j
            outputs.append((f"by_q[{at}]", by_q[i][j]))
            outputs.append((f"by_dq[{at}]", code.add(f"viscous[{at}]", by_dq[i][j])))
    for i, carrying in enumerate(link_columns(code, frames, motion)):
        for j, ten in carrying.items():
            kept = [(int(c), each) for c, each in zip(column[i], ten, strict=True) if c >= 0]
            outputs += [(f"W[{j * width + c}]", each) for c, each in kept]
    blocks = (("by_q", n * n), ("by_dq", n * n), ("W", n * width))
    used = code.behind([each for _, each in outputs])
    return LaneProgram(("link", "viscous"), _MOTION, used, outputs, STAGES, blocks)
