"""Statements on rows of tables as machine code: what is computed for one column is done for all of
them, several at once in the vector registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from didim.jit.machine_code import (
    ELEMENT,
    NAME,
    MachineCode,
    StatementBuilder,
    compiled_module,
)
from didim.jit.statements import Statement, Symbol

_REAL, _WHOLE, _WORD = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


@dataclass(frozen=True)
class LaneProgram:
    """The function int64 f(double *a, ..., double *T, ..., double *B, ..., int64 width) as data; it
    returns 0.
    """

    arrays: tuple[str, ...]
    """Names of arrays of numbers, which are the same in all columns."""
    tables: tuple[str, ...]
    """Names of tables (rows, width), whose rows are written "T[3]". None may overlap."""
    statements: Sequence[Statement]
    """What is computed, in order, with + - * / min max and sign, and with `multiply_adds`."""
    outputs: Sequence[tuple[str, Symbol]]
    """Rows that are written, and their values."""
    lanes: int
    """Columns at once; `width` is a multiple of it."""
    blocks: Sequence[tuple[str, int]] = ()
    """Names and sizes of arrays (width, size) that have a block of numbers for each column: "B[3]"
    is the fourth of all blocks. They can be written, not read.
    """


def lane_code(program: LaneProgram) -> MachineCode:
    """Compile a program for this processor."""
    return compiled_module(_Builder(program).module)


class _Builder(StatementBuilder):
    """A program in LLVM's language, as `module`."""

    def __init__(self, program: LaneProgram) -> None:
        self.module, self._lanes = ir.Module(), program.lanes
        self._kind = ir.VectorType(_REAL, program.lanes)
        self._suffix = f"v{program.lanes}f64"
        self._sizes = dict(program.blocks)
        names = (*program.arrays, *program.tables, *self._sizes)
        kind = ir.FunctionType(_WHOLE, [_REAL.as_pointer()] * len(names) + [_WHOLE])
        function = ir.Function(self.module, kind, NAME)
        for argument in function.args[:-1]:
            argument.add_attribute("noalias")
        self._arrays = dict(zip(names, function.args, strict=False))
        self._tables, self._width = set(program.tables), function.args[-1]
        begin, body, end = (function.append_basic_block() for _ in range(3))
        ir.IRBuilder(begin).branch(body)
        self._build, self._values = ir.IRBuilder(body), dict[str, Any]()
        self._column = self._build.phi(_WHOLE)
        self._column.add_incoming(ir.Constant(_WHOLE, 0), begin)
        self._blocks = {
            name: self._build.gep(
                self._arrays[name], [self._build.mul(self._column, ir.Constant(_WHOLE, size))]
            )
            for name, size in program.blocks
        }
        self._compute(program.statements, [each for _, each in program.outputs], fused=True)
        for element, symbol in program.outputs:
            self._write(*_parts(element), self._value(symbol))
        following = self._build.add(self._column, ir.Constant(_WHOLE, program.lanes))
        self._column.add_incoming(following, body)
        self._build.cbranch(self._build.icmp_signed("<", following, self._width), body, end)
        ir.IRBuilder(end).ret(ir.Constant(_WHOLE, 0))

    def _constant(self, number: float) -> Any:
        return ir.Constant(self._kind, [number] * self._lanes)

    def _value(self, symbol: Symbol) -> Any:
        if isinstance(symbol, float):
            return self._constant(symbol)
        if symbol not in self._values:
            name, number = _parts(symbol)
            if name in self._tables:
                self._values[symbol] = self._build.load(self._row(name, number), align=8)
            else:
                place = self._build.gep(self._arrays[name], [ir.Constant(_WHOLE, number)])
                self._values[symbol] = self._spread(self._build.load(place))
        return self._values[symbol]

    def _write(self, name: str, number: int, value: Any) -> None:
        if name not in self._sizes:
            self._build.store(value, self._row(name, number), align=8)
            return
        for lane in range(self._lanes):
            at = ir.Constant(_WHOLE, lane * self._sizes[name] + number)
            each = self._build.extract_element(value, ir.Constant(_WORD, lane))
            self._build.store(each, self._build.gep(self._blocks[name], [at]))

    def _row(self, name: str, number: int) -> Any:
        """Where the lanes of a row lie."""
        before = self._build.mul(self._width, ir.Constant(_WHOLE, number))
        first = self._build.gep(self._arrays[name], [self._build.add(before, self._column)])
        return self._build.bitcast(first, self._kind.as_pointer())

    def _spread(self, number: Any) -> Any:
        """A number in all lanes."""
        empty = ir.Constant(self._kind, ir.Undefined)
        one = self._build.insert_element(empty, number, ir.Constant(_WORD, 0))
        everywhere = ir.Constant(ir.VectorType(_WORD, self._lanes), [0] * self._lanes)
        return self._build.shuffle_vector(one, one, everywhere)


def _parts(element: str) -> tuple[str, int]:
    """Name and number of an element such as "x[3]"."""
    found = ELEMENT.fullmatch(element)
    assert found is not None, element
    return found[1], int(found[2])
