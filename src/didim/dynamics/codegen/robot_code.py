"""A robot's own machine code: its inertia matrix, factored, and its forces, for the simulation to
call.

LLVM compiles it in some 0.06 s for six joints; it is three times as fast as the kernels that serve
every robot. The geometry stands in the code, the parameters do not: an identification compiles
once. With DIDIM_GENERIC=1 in the environment, no robot has code of its own.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from didim.dynamics.codegen.recursions import factor, inertia_matrix, link_torque, move, place
from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.kernels.direct import SMALLEST_PIVOT
from didim.dynamics.kernels.tree import Tree
from didim.jit.machine_code import MachineCode, Program, generic, machine_code
from didim.jit.statements import Symbol

MOST_JOINTS = 12
"""Robots with more are left to the kernels: statements grow with the square of the joints, and so
does compiling them.
"""

_ARRAYS = ("q", "cos", "sin", "dq", "link", "armature", "M", "bias")


def robot_code(tree: Tree) -> MachineCode | None:
    """The code of a robot, called by `kernels.direct.factored`; None where the generic kernels do
    its work: it has more joints than MOST_JOINTS, or DIDIM_GENERIC is set.
    """
    if tree.parent.size > MOST_JOINTS or generic():
        return None
    return _compiled(
        *((array.tobytes(), array.dtype.str, array.shape) for array in map(np.asarray, tree[:-1]))
    )


@lru_cache(maxsize=32)
def _compiled(*arrays: tuple[bytes, str, tuple[int, ...]]) -> MachineCode:
    geometry = (np.frombuffer(data, dtype).reshape(shape) for data, dtype, shape in arrays)
    parent, prismatic, rotation, translation, gravity = geometry
    return machine_code(_program(Tree(parent, prismatic, rotation, translation, gravity, 0)))


def _program(tree: Tree) -> Program:
    """From `_ARRAYS`: bias (n,), the factor of M (n, n), and the joint at which it fails, or -1."""
    code, n = Trace(), int(tree.parent.size)
    q, cos, sin, dq = ([f"{name}[{i}]" for i in range(n)] for name in ("q", "cos", "sin", "dq"))
    links: list[Vector] = [[f"link[{10 * i + k}]" for k in range(10)] for i in range(n)]
    frames = place(code, tree, list(q), list(cos), list(sin))
    bias = link_torque(
        code,
        frames,
        links,
        move(code, frames, [float(g) for g in tree.gravity], list(dq), [0.0] * n),
    )
    M = [
        [code.add(share, f"armature[{i * n + j}]") for j, share in enumerate(row)]
        for i, row in enumerate(inertia_matrix(code, frames, links))
    ]
    L, pivots = factor(code, M)
    outputs: list[tuple[str, Symbol]] = []
    for i in range(n):
        outputs.append((f"bias[{i}]", bias[i]))
        outputs += [(f"M[{i * n + j}]", L[i][j]) for j in range(i + 1)]
    conditions = [(pivots[j], M[j][j]) for j in range(n)]
    return Program(_ARRAYS, code.statements, outputs, conditions, SMALLEST_PIVOT)
