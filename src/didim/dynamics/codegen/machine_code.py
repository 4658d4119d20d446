"""Statements as machine code: the inertia matrix, factored, and the forces of one robot, for the
simulation to call.

LLVM, which Numba brings along, compiles them in some 0.06 s for six joints; the code is three times
as fast as the kernels that serve every robot. The geometry stands in the code, the parameters do
not: an identification compiles once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock

from didim.dynamics.codegen.recursions import factor, inertia_matrix, link_torque, move, place
from didim.dynamics.codegen.trace import Statement, Symbol, Trace, Vector
from didim.dynamics.kernels.direct import SMALLEST_PIVOT
from didim.dynamics.kernels.tree import Tree

_numba: Any = codegen

MOST_JOINTS = 12
"""Robots with more are left to the kernels: statements grow with the square of the joints, and so
does compiling them.
"""

_READ, _WRITTEN = ("q", "cos", "sin", "dq", "link", "armature"), ("M", "bias")
_ELEMENT = re.compile(r"(\w+)\[(\d+)\]")
_REAL, _WHOLE = ir.DoubleType(), ir.IntType(64)


class MachineCode:
    """A compiled function; its `address` is valid as long as this object lives."""

    def __init__(self, engine: Any, name: str) -> None:
        self._engine = engine
        self.address = int(engine.get_function_address(name))


def machine_code(tree: Tree) -> MachineCode | None:
    """The code of a robot, see `kernels.direct.call_straight`; None where it has more joints than
    MOST_JOINTS.
    """
    if tree.parent.size > MOST_JOINTS:
        return None
    return _compiled(
        *((array.tobytes(), array.dtype.str, array.shape) for array in map(np.asarray, tree))
    )


@lru_cache(maxsize=32)
def _compiled(*arrays: tuple[bytes, str, tuple[int, ...]]) -> MachineCode:
    with global_compiler_lock:  # inside the cache: code that is there waits for nobody
        return _compile(
            Tree(*(np.frombuffer(data, dtype).reshape(shape) for data, dtype, shape in arrays))
        )


def _compile(tree: Tree) -> MachineCode:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(str(_module(tree)))
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_numba.get_host_cpu_features(), opt=2
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return MachineCode(engine, "dynamics")


def _module(tree: Tree) -> ir.Module:
    """The function int dynamics(double *q, ..., double *bias): bias (n,), the factor of M (n, n),
    and the joint that fails.
    """
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
    function = _Function(code.statements)
    for i in range(n):
        function.write(f"bias[{i}]", bias[i])
        for j in range(i + 1):
            function.write(f"M[{i * n + j}]", L[i][j])
    function.answer([(pivots[j], M[j][j]) for j in range(n)])
    return function.module


class _Function:
    """A function in LLVM's language, built from statements."""

    def __init__(self, statements: list[Statement]) -> None:
        self.module = ir.Module()
        names = (*_READ, *_WRITTEN)
        function = ir.Function(
            self.module, ir.FunctionType(_WHOLE, [_REAL.as_pointer()] * len(names)), "dynamics"
        )
        for argument, name in zip(function.args, names, strict=True):
            argument.name = name
            argument.add_attribute("noalias")
        self.arrays = dict(zip(names, function.args, strict=True))
        self.build = ir.IRBuilder(function.append_basic_block())
        self.values: dict[str, Any] = {}
        for statement in statements:
            self.values[statement.name] = self._computed(statement)

    def _computed(self, statement: Statement) -> Any:
        right = self._value(statement.right)
        if statement.left is None:
            if statement.operator == "sqrt":
                return self._intrinsic("llvm.sqrt", right)
            return self.build.fneg(right)
        left = self._value(statement.left)
        make = {
            "*": self.build.fmul,
            "+": self.build.fadd,
            "-": self.build.fsub,
            "/": self.build.fdiv,
        }
        return make[statement.operator](left, right)

    def _value(self, symbol: Symbol) -> Any:
        if isinstance(symbol, float):
            return ir.Constant(_REAL, symbol)
        if symbol not in self.values:
            self.values[symbol] = self.build.load(self._place(symbol))
        return self.values[symbol]

    def _place(self, element: str) -> Any:
        """Where an element such as q[3] lies."""
        found = _ELEMENT.fullmatch(element)
        assert found is not None, element
        return self.build.gep(
            self.arrays[found[1]], [ir.Constant(_WHOLE, int(found[2]))], inbounds=True
        )

    def _intrinsic(self, name: str, x: Any) -> Any:
        return self.build.call(self.module.declare_intrinsic(name, [_REAL]), [x])

    def write(self, element: str, symbol: Symbol) -> None:
        """element = symbol."""
        self.build.store(self._value(symbol), self._place(element))

    def answer(self, pivots: list[tuple[Symbol, Symbol]]) -> None:
        """Return the first joint whose pivot is not positive beside its entry of M, or -1."""
        failed = ir.Constant(_WHOLE, -1)
        for j, (pivot, entry) in reversed(list(enumerate(pivots))):
            least = self.build.fmul(
                ir.Constant(_REAL, SMALLEST_PIVOT), self._intrinsic("llvm.fabs", self._value(entry))
            )
            fine = self.build.fcmp_ordered(">", self._value(pivot), least)
            failed = self.build.select(fine, failed, ir.Constant(_WHOLE, j))
        self.build.ret(failed)
