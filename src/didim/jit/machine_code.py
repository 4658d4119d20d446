"""Statements as machine code: a function of arrays of doubles, compiled by LLVM, which Numba brings
along, and called by its address. With DIDIM_GENERIC=1 in the environment, robots and expressions
have none: the generic kernels do the work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from didim.jit import processor
from didim.jit.multiply_add import multiply_adds
from didim.jit.processor import has_multiply_add
from didim.jit.statements import Statement, Symbol
from didim.jit.stored_code import StoredCode

GENERIC = "DIDIM_GENERIC"
"""Environment variable: unless it is empty or 0, all work is left to the kernels."""

NAME = "function"
ELEMENT = re.compile(r"(\w+)\[(\d+)\]")
"""Of an array: its name and its number."""
_INTRINSICS = {
    name: f"llvm.{'fabs' if name == 'abs' else name}"
    for name in ("sqrt", "sin", "cos", "exp", "log", "abs")
}
_REAL, _WHOLE = ir.DoubleType(), ir.IntType(64)


@dataclass(frozen=True)
class Program:
    """The function int64 f(double *a, double *b, ..., double x, ...) as data; where it has a
    `table`, int64 f(double **table, double *a, ...).
    """

    arrays: tuple[str, ...]
    """Names of the arguments, in order. The arrays must not overlap."""
    statements: Sequence[Statement]
    """What is computed, in order, from elements such as "a[3]" and from earlier names."""
    outputs: Sequence[tuple[str, Symbol]]
    """Elements that are written, and their values."""
    conditions: Sequence[tuple[Symbol, Symbol]]
    """Pairs (x, y) that must satisfy x > margin |y|: the function returns the index of the first
    that does not, or -1. One that is not a number does not.
    """
    margin: float
    numbers: tuple[str, ...] = ()
    """Names of the arguments behind the arrays that are numbers."""
    table: tuple[str, ...] = ()
    """Names of further arrays, whose addresses are in a table. They must not overlap either."""
    fused: bool = False
    """Whether a product may be computed with the sum that it goes into, see `multiply_adds`."""


class MachineCode:
    """A compiled function; its `address` is valid as long as this object lives."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.address = int(engine.get_function_address(NAME))


def generic() -> bool:
    """Whether the environment leaves all work to the kernels."""
    return os.environ.get(GENERIC, "") not in ("", "0")


def machine_code(program: Program) -> MachineCode:
    """Compile a program for this processor, without fastmath: every operation is done as it is
    written, or as `multiply_adds` says.
    """
    return compiled_module(_Builder(program).module)


def compiled_module(module: ir.Module) -> MachineCode:
    """The one function of a module, compiled for this processor, or read where it was before."""
    text = str(module)
    stored = StoredCode(text, processor.name(), processor.features(), llvmlite.__version__)
    with processor.one_compiler():
        engine = processor.engine(llvm.parse_assembly(text))
        engine.set_object_cache(lambda _, code: stored.write(bytes(code)), lambda _: stored.read())
        engine.finalize_object()
        return MachineCode(engine)


class StatementBuilder:
    """Statements in LLVM's language; their values are numbers, or vectors of them."""

    module: ir.Module
    _build: ir.IRBuilder
    _values: dict[str, Any]
    """What is computed or read already."""

    _value: Callable[[Symbol], Any]
    _kind: Any = _REAL
    """Of the values."""
    _suffix = "f64"
    """Of the names of LLVM's functions for values of this kind."""

    def _constant(self, number: float) -> Any:
        return ir.Constant(_REAL, number)

    def _compute(self, statements: Sequence[Statement], results: list[Symbol], fused: bool) -> None:
        """All statements, where `fused` with their `multiply_adds`."""
        products = multiply_adds(statements, results) if fused and has_multiply_add() else {}
        within = {product.name for product in products.values()}
        for each in statements:
            if each.name in products:
                self._values[each.name] = self._multiply_add(each, products[each.name])
            elif each.name not in within:
                self._values[each.name] = self._computed(each)

    def _multiply_add(self, total: Statement, product: Statement) -> Any:
        assert total.left is not None
        assert product.left is not None
        x, y = self._value(product.left), self._value(product.right)
        last = total.right == product.name
        other = self._value(total.left if last else total.right)
        if total.operator == "-" and last:
            x = self._build.fneg(x)
        elif total.operator == "-":
            other = self._build.fneg(other)
        return self._intrinsic("llvm.fma", x, y, other)

    def _computed(self, statement: Statement) -> Any:
        right = self._value(statement.right)
        if statement.left is None:
            return self._of_one(statement.operator, right)
        left = self._value(statement.left)
        make = {
            "*": self._build.fmul,
            "+": self._build.fadd,
            "-": self._build.fsub,
            "/": self._build.fdiv,
        }
        if statement.operator in make:
            return make[statement.operator](left, right)
        if statement.operator == "pow":
            return self._intrinsic("llvm.pow", left, right)
        taken = self._build.fcmp_ordered({"min": "<", "max": ">"}[statement.operator], left, right)
        undefined = self._build.fcmp_unordered("uno", left, left)
        return self._build.select(self._build.or_(taken, undefined), left, right)

    def _of_one(self, operator: str, x: Any) -> Any:
        if operator == "-":
            return self._build.fneg(x)
        if operator == "sign":
            below = self._build.fcmp_ordered("<", x, self._constant(0.0))
            above = self._build.fcmp_ordered(">", x, self._constant(0.0))
            negative = self._build.select(below, self._constant(-1.0), x)
            return self._build.select(above, self._constant(1.0), negative)
        if operator == "tanh":
            return self._call("tanh", x)
        return self._intrinsic(_INTRINSICS[operator], x)

    def _intrinsic(self, name: str, *x: Any) -> Any:
        return self._call(f"{name}.{self._suffix}", *x)

    def _call(self, name: str, *x: Any) -> Any:
        kind = ir.FunctionType(self._kind, [self._kind] * len(x))
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self._build.call(function, x)


class _Builder(StatementBuilder):
    """A program in LLVM's language, as `module`."""

    def __init__(self, program: Program) -> None:
        self.module = ir.Module()
        pointer, first = _REAL.as_pointer(), int(bool(program.table))
        last = first + len(program.arrays)
        kinds = [pointer.as_pointer()] * first + [pointer] * len(program.arrays)
        kind = ir.FunctionType(_WHOLE, kinds + [_REAL] * len(program.numbers))
        function = ir.Function(self.module, kind, NAME)
        for argument, name in zip(function.args[first:last], program.arrays, strict=True):
            argument.name = name
            argument.add_attribute("noalias")
        self._arrays = dict(zip(program.arrays, function.args[first:last], strict=True))
        self._values = dict(zip(program.numbers, function.args[last:], strict=True))
        self._build = ir.IRBuilder(function.append_basic_block())
        for k, name in enumerate(program.table):
            place = self._build.gep(function.args[0], [ir.Constant(_WHOLE, k)], inbounds=True)
            self._arrays[name] = self._build.load(place)
        results = [each for _, each in program.outputs]
        results += [each for pair in program.conditions for each in pair]
        self._compute(program.statements, results, program.fused)
        for element, symbol in program.outputs:
            self._build.store(self._value(symbol), self._place(element))
        self._build.ret(self._first_failed(program))

    def _value(self, symbol: Symbol) -> Any:
        if isinstance(symbol, float):
            return self._constant(symbol)
        if symbol not in self._values:
            self._values[symbol] = self._build.load(self._place(symbol))
        return self._values[symbol]

    def _place(self, element: str) -> Any:
        """Where an element such as q[3] lies."""
        found = ELEMENT.fullmatch(element)
        assert found is not None, element
        return self._build.gep(
            self._arrays[found[1]], [ir.Constant(_WHOLE, int(found[2]))], inbounds=True
        )

    def _first_failed(self, program: Program) -> Any:
        failed = ir.Constant(_WHOLE, -1)
        for k, (value, reference) in reversed(list(enumerate(program.conditions))):
            least = self._build.fmul(
                ir.Constant(_REAL, program.margin),
                self._intrinsic("llvm.fabs", self._value(reference)),
            )
            holds = self._build.fcmp_ordered(">", self._value(value), least)
            failed = self._build.select(holds, failed, ir.Constant(_WHOLE, k))
        return failed
