"""Straight-line arithmetic as data: statements `name = left operator right` on symbols."""

from __future__ import annotations

from typing import NamedTuple

Symbol = str | float
"""The name of a value, an element of an array such as "q[3]", or a number."""

_INFIX = ("+", "-", "*", "/")


class Statement(NamedTuple):
    """name = left operator right, with + - * / pow min max; without left for "-" and for functions
    such as "sqrt"; the operator "" where `right` is an expression of its own.
    """

    name: str
    operator: str
    left: Symbol | None
    right: Symbol

    @property
    def expression(self) -> str:
        """The right-hand side as text, valid in Python and, but for min, max and abs, in C."""
        if self.operator == "":
            return str(self.right)
        if self.left is None:
            inner = shown(self.right)
            return f"-{inner}" if self.operator == "-" else f"{self.operator}({inner})"
        if self.operator in _INFIX:
            return f"{shown(self.left)} {self.operator} {shown(self.right)}"
        return f"{self.operator}({shown(self.left)}, {shown(self.right)})"


def shown(value: Symbol) -> str:
    """A symbol, or a number in as many digits as bring it back."""
    if isinstance(value, str):
        return value
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"
