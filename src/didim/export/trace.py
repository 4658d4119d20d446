"""Arithmetic on symbols that writes down what it does: straight-line statements that are valid in Python and in C.

Products with 0 and 1 fall away, numbers are folded, and what was computed before is not computed again.
"""

from __future__ import annotations

import re

Symbol = str | float
Vector = list[Symbol]

_NAME = re.compile(r"\bx\d+\b")


class Trace:
    """Collects assignments `x0 = ...`, `x1 = ...`."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        """Name and expression of each."""
        self._known: dict[str, str] = {}

    def let(self, expression: str) -> str:
        """The name of an expression; the same for the same expression."""
        if expression not in self._known:
            self._known[expression] = name = f"x{len(self.lines)}"
            self.lines.append((name, expression))
        return self._known[expression]

    def mul(self, a: Symbol, b: Symbol) -> Symbol:
        """a b."""
        if isinstance(a, float) and isinstance(b, float):
            return a * b
        if isinstance(a, float):
            a, b = b, a
        if isinstance(b, float) and b in (0.0, 1.0, -1.0):
            return 0.0 if b == 0.0 else (a if b == 1.0 else self.let(f"-{shown(a)}"))
        first, second = (a, b) if isinstance(b, float) else sorted((str(a), str(b)))
        return self.let(f"{shown(first)} * {shown(second)}")

    def add(self, a: Symbol, b: Symbol) -> Symbol:
        """a + b."""
        if isinstance(a, float) and isinstance(b, float):
            return a + b
        if a == 0.0 or b == 0.0:
            return b if a == 0.0 else a
        return self.let(f"{shown(a)} + {shown(b)}")

    def sub(self, a: Symbol, b: Symbol) -> Symbol:
        """a - b."""
        if isinstance(a, float) and isinstance(b, float):
            return a - b
        if a == 0.0 or b == 0.0:
            return self.mul(-1.0, b) if a == 0.0 else a
        return self.let(f"{shown(a)} - {shown(b)}")

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

    def times(self, A: list[Vector], x: Vector) -> Vector:
        """A x."""
        return [self.dot(row, x) for row in A]

    def cross(self, a: Vector, b: Vector) -> Vector:
        """A cross product."""
        return [self.sub(self.mul(a[i], b[j]), self.mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]

    def needed(self, results: list[Symbol]) -> list[tuple[str, str]]:
        """The assignments that the results depend on."""
        wanted = {name for result in results for name in _NAME.findall(str(result))}
        kept = []
        for name, expression in reversed(self.lines):
            if name in wanted:
                kept.append((name, expression))
                wanted.update(_NAME.findall(expression))
        return kept[::-1]


def shown(value: Symbol) -> str:
    """A symbol, or a number in as many digits as bring it back."""
    if isinstance(value, str):
        return value
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"
