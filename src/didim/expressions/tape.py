"""Expressions as straight-line code over one file of registers, each common part computed once.

    registers = inputs | constants | literals | results of the rows of code

Constants are parameters, which keep their names and may be set between runs; literals are the
numbers of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from didim.errors import InputError, nearest
from didim.expressions.expression import substitute
from didim.expressions.kernels import tape as kernels
from didim.expressions.nodes import Expression, Number, Operation, ordered

OPERATORS = {
    "+": kernels.ADD,
    "-": kernels.SUBTRACT,
    "*": kernels.MULTIPLY,
    "/": kernels.DIVIDE,
    "neg": kernels.NEGATE,
    "pow": kernels.POWER,
    "sin": kernels.SIN,
    "cos": kernels.COS,
    "exp": kernels.EXP,
    "log": kernels.LOG,
    "sqrt": kernels.SQRT,
    "tanh": kernels.TANH,
    "abs": kernels.ABSOLUTE,
    "sign": kernels.SIGN,
    "min": kernels.MINIMUM,
    "max": kernels.MAXIMUM,
}
"""The number of each operator in the code."""

_TWO, _THREE = Number(2.0), Number(3.0)


@dataclass(frozen=True, eq=False)
class Tape:
    """Straight-line code of several expressions; made by `tape`."""

    code: np.ndarray
    """(I, 4) rows (operator, destination, left, right), see `kernels.tape`."""
    registers: np.ndarray
    """(R,) with constants and literals filled in; a run works on a copy."""
    inputs: dict[str, int]
    """Registers of the inputs."""
    constants: dict[str, int]
    """Registers of the constants."""
    outputs: np.ndarray
    """(K,) registers of the results, first those of `values`, then those of `more`."""
    first: int
    """Rows that the `values` need: all others serve `more` alone."""
    value_count: int
    """Outputs that belong to `values`."""


def tape(
    values: Sequence[Expression],
    more: Sequence[Expression],
    inputs: Sequence[str],
    constants: Mapping[str, float],
) -> Tape:
    """The code of `values`, followed by that of `more`, which may use what came before.
    What is computed from numbers alone is folded.
    """
    named = [*inputs, *constants]
    if len(set(named)) != len(named):
        twice = sorted({name for name in named if named.count(name) > 1})
        raise InputError(f"{', '.join(twice)}: each input and constant needs a name of its own.")
    expressions = [substitute(each, {}) for each in (*values, *more)]
    numbers = {
        node.value.hex(): node.value for node in ordered(expressions) if isinstance(node, Number)
    }
    rows = _Rows(named, list(numbers))
    rows.append(expressions[: len(values)])
    first = len(rows.code)
    rows.append(expressions[len(values) :])
    registers = np.zeros(len(named) + len(numbers) + len(rows.code))
    registers[len(inputs) : len(named) + len(numbers)] = [*constants.values(), *numbers.values()]
    return Tape(
        code=np.array(rows.code, np.int64).reshape(-1, 4),
        registers=registers,
        inputs={name: rows.names[name] for name in inputs},
        constants={name: rows.names[name] for name in constants},
        outputs=np.array([rows.place[id(each)] for each in expressions], np.int64),
        first=first,
        value_count=len(values),
    )


class _Rows:
    """Rows of code, and the register of each name, literal and node."""

    def __init__(self, names: Sequence[str], literals: Sequence[str]) -> None:
        self.names = {name: k for k, name in enumerate(names)}
        self.code: list[tuple[int, int, int, int]] = []
        self.place: dict[int, int] = {}
        self._literals = {literal: len(names) + k for k, literal in enumerate(literals)}
        self._known: dict[tuple[int, int, int], int] = {}

    def append(self, expressions: Sequence[Expression]) -> None:
        """Add the rows that the expressions still lack."""
        for node in ordered(expressions):
            if id(node) in self.place:
                continue
            if isinstance(node, Number):
                self.place[id(node)] = self._literals[node.value.hex()]
            elif isinstance(node, Operation):
                self.place[id(node)] = self._operation(node)
            elif node.name in self.names:
                self.place[id(node)] = self.names[node.name]
            else:
                raise InputError(f"unknown name {node.name!r}; {nearest(node.name, self.names)}")

    def _operation(self, node: Operation) -> int:
        left, right = (self.place[id(each)] for each in (node.arguments * 2)[:2])
        exponent = node.arguments[-1]
        if node.operator == "pow" and exponent in (_TWO, _THREE):
            square = self._row(kernels.MULTIPLY, left, left)
            return square if exponent == _TWO else self._row(kernels.MULTIPLY, square, left)
        return self._row(OPERATORS[node.operator], left, right)

    def _row(self, operator: int, left: int, right: int) -> int:
        """The register of an operation; the same for the same operation."""
        if operator in (kernels.ADD, kernels.MULTIPLY) and left > right:
            left, right = right, left
        key = (operator, left, right)
        if key not in self._known:
            count = len(self.names) + len(self._literals)
            self._known[key] = destination = count + len(self.code)
            self.code.append((operator, destination, left, right))
        return self._known[key]
