"""A robot's own machine code: its inertia matrix, factored, and its forces, for the simulation to
call.

LLVM compiles it in some 0.06 s for six joints; it is three times as fast as the kernels that serve
every robot. The geometry stands in the code, the parameters do not: an identification compiles
once. With DIDIM_GENERIC=1 in the environment, no robot has code of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from didim.dynamics.codegen.recursions import factor, inertia_matrix, link_torque, move, place
from didim.dynamics.codegen.ties import gather_inertia, gather_torque, spread
from didim.dynamics.codegen.trace import Trace, Vector
from didim.dynamics.kernels.direct import SMALLEST_PIVOT
from didim.dynamics.kernels.tree import Tree
from didim.dynamics.tied import Tied
from didim.jit.machine_code import MachineCode, Program, generic, machine_code
from didim.jit.statements import Symbol

MOST_JOINTS = 12
"""Robots with more are left to the kernels: statements grow with the square of the joints, and so
does compiling them.
"""

_GEOMETRY = len(Tree._fields) - 2
"""Fields of a tree that are no addresses."""

_ARRAYS = ("q", "cos", "sin", "dq", "link", "armature", "M", "bias")


def robot_code(tree: Tree, tied: Tied | None = None) -> MachineCode | None:
    """The code of a robot, called by `kernels.direct.factored_by_code`; None where the generic
    kernels do its work: it has more joints than MOST_JOINTS, or DIDIM_GENERIC is set.
    """
    if tree.parent.size > MOST_JOINTS or generic():
        return None
    return _compiled(*frozen(tree, () if tied is None else vars(tied).values()))


FrozenArray = tuple[bytes, str, tuple[int, ...]]
"""An array as a key of a cache: its bytes, kind and shape."""


def frozen(tree: Tree, arrays: Iterable[ArrayLike] = ()) -> tuple[FrozenArray, ...]:
    """The geometry of a tree and more arrays, as keys."""
    each = map(np.asarray, (*tree[:_GEOMETRY], *arrays))
    return tuple((array.tobytes(), array.dtype.str, array.shape) for array in each)


def thawed(arrays: Sequence[FrozenArray]) -> tuple[Tree, list[Any]]:
    """The tree, without terms and ties, and the arrays that were frozen with it."""
    read = [np.frombuffer(data, dtype).reshape(shape) for data, dtype, shape in arrays]
    parent, prismatic, rotation, translation, gravity = read[:_GEOMETRY]
    return Tree(parent, prismatic, rotation, translation, gravity, 0, 0), read[_GEOMETRY:]


@lru_cache(maxsize=32)
def _compiled(*arrays: FrozenArray) -> MachineCode:
    tree, ties = thawed(arrays)
    return machine_code(_program(tree, Tied(*ties) if ties else None))


def _program(tree: Tree, tied: Tied | None) -> Program:
    """From `_ARRAYS`: bias (n,), the factor of M (n, n), and the joint at which it fails, or -1.
    Cosines and sines are those of all m joints.
    """
    code, m = Trace(), int(tree.parent.size)
    n = m if tied is None else 1 + int(tied.coordinate.max())
    q, dq = ([f"{name}[{i}]" for i in range(n)] for name in ("q", "dq"))
    cos, sin = ([f"{name}[{i}]" for i in range(m)] for name in ("cos", "sin"))
    links: list[Vector] = [[f"link[{10 * i + k}]" for k in range(10)] for i in range(m)]
    frames = place(code, tree, spread(code, tied, list(q), positions=True), list(cos), list(sin))
    rates = spread(code, tied, list(dq))
    gravity: Vector = [float(g) for g in tree.gravity]
    torque = link_torque(code, frames, links, move(code, frames, gravity, rates, [0.0] * m))
    bias = gather_torque(code, tied, torque)
    inertia = gather_inertia(code, tied, inertia_matrix(code, frames, links))
    M = [
        [code.add(share, f"armature[{i * n + j}]") for j, share in enumerate(row)]
        for i, row in enumerate(inertia)
    ]
    L, pivots = factor(code, M)
    outputs: list[tuple[str, Symbol]] = []
    for i in range(n):
        outputs.append((f"bias[{i}]", bias[i]))
        outputs += [(f"M[{i * n + j}]", L[i][j]) for j in range(i + 1)]
    conditions = [(pivots[j], M[j][j]) for j in range(n)]
    return Program(_ARRAYS, code.statements, outputs, conditions, SMALLEST_PIVOT, fused=True)
