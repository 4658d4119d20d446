"""Arithmetic on symbols that writes down what it does: straight-line statements, valid in Python
and in C.

Products with 0 and 1 fall away, numbers are folded, and what was computed before is not computed
again.
"""

from __future__ import annotations

import re

from didim.jit.statements import Statement, Symbol

Vector = list[Symbol]
Matrix = list[Vector]

_NAME = re.compile(r"\bx\d+\b")


class Trace:
    """Collects statements `x0 = ...`, `x1 = ...`."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self._known: dict[tuple[str, Symbol | None, Symbol], str] = {}

    def _note(self, operator: str, left: Symbol | None, right: Symbol) -> str:
        """The name of what is computed; the same for the same operation."""
        key = (operator, left, right)
        if key not in self._known:
            self._known[key] = name = f"x{len(self.statements)}"
            self.statements.append(Statement(name, *key))
        return self._known[key]

    def let(self, expression: str) -> str:
        """The name of an expression that is given as text."""
        return self._note("", None, expression)

    def mul(self, a: Symbol, b: Symbol) -> Symbol:
        """a b."""
        if isinstance(a, float) and isinstance(b, float):
            return a * b
        if isinstance(a, float):
            a, b = b, a
        if isinstance(b, float) and b in (0.0, 1.0, -1.0):
            return 0.0 if b == 0.0 else (a if b == 1.0 else self._note("-", None, a))
        first, second = (a, b) if isinstance(b, float) else sorted((str(a), str(b)))
        return self._note("*", first, second)

    def add(self, a: Symbol, b: Symbol) -> Symbol:
        """a + b."""
        if isinstance(a, float) and isinstance(b, float):
            return a + b
        if a == 0.0 or b == 0.0:
            return b if a == 0.0 else a
        return self._note("+", a, b)

    def sub(self, a: Symbol, b: Symbol) -> Symbol:
        """a - b."""
        if isinstance(a, float) and isinstance(b, float):
            return a - b
        if a == 0.0 or b == 0.0:
            return self.mul(-1.0, b) if a == 0.0 else a
        return self._note("-", a, b)

    def inverse_root(self, a: Symbol) -> Symbol:
        """1 / sqrt(a)."""
        return self._note("/", 1.0, self._note("sqrt", None, a))

    def apply(self, operator: str, *arguments: Symbol) -> Symbol:
        """An operator of expressions: + - * / neg pow min max, or a function of one argument."""
        if operator == "neg":
            return self.mul(-1.0, arguments[0])
        if operator in ("+", "-", "*"):
            fold = {"+": self.add, "-": self.sub, "*": self.mul}[operator]
            return fold(*arguments)
        left, right = (None, *arguments)[-2:]
        assert right is not None
        return self._note(operator, left, right)

    def dot(self, a: Vector, b: Vector) -> Symbol:
        """a' b."""
        total: Symbol = 0.0
        for x, y in zip(a, b, strict=True):
            total = self.add(total, self.mul(x, y))
        return total

    def plus(self, *vectors: Vector) -> Vector:
        """The sum of vectors."""
        total = vectors[0]
        for other in vectors[1:]:
            total = [self.add(x, y) for x, y in zip(total, other, strict=True)]
        return total

    def scale(self, a: Symbol, x: Vector) -> Vector:
        """a x."""
        return [self.mul(a, each) for each in x]

    def times(self, A: Matrix, x: Vector) -> Vector:
        """A x."""
        return [self.dot(row, x) for row in A]

    def cross(self, a: Vector, b: Vector) -> Vector:
        """A cross product."""
        return [
            self.sub(self.mul(a[i], b[j]), self.mul(a[j], b[i]))
            for i, j in ((1, 2), (2, 0), (0, 1))
        ]

    def behind(self, results: list[Symbol]) -> list[Statement]:
        """The statements that the results depend on, in order."""
        wanted, kept = {result for result in results if isinstance(result, str)}, []
        for statement in reversed(self.statements):
            if statement.name in wanted:
                kept.append(statement)
                used = (statement.left, statement.right)
                wanted.update(symbol for symbol in used if isinstance(symbol, str))
        return kept[::-1]

    def needed(self, results: list[Symbol]) -> list[tuple[str, str]]:
        """Names and expressions of the statements that the results depend on, in order."""
        wanted = {name for result in results for name in _NAME.findall(str(result))}
        kept = []
        for statement in reversed(self.statements):
            if statement.name in wanted:
                kept.append((statement.name, statement.expression))
                wanted.update(_NAME.findall(statement.expression))
        return kept[::-1]
