"""Straight-line arithmetic as data: statements `name = left operator right` on symbols."""

from __future__ import annotations

from typing import NamedTuple

Symbol = str | float
"""The name of a value, an element of an array such as "q[3]", or a number."""


class Statement(NamedTuple):
    """name = left operator right; an operator "-" or "sqrt" without left; "" where `right` is an
    expression of its own.
    """

    name: str
    operator: str
    left: Symbol | None
    right: Symbol

    @property
    def expression(self) -> str:
        """The right-hand side as text, valid in Python and in C."""
        if self.operator == "":
            return str(self.right)
        if self.left is None:
            return (
                f"sqrt({shown(self.right)})" if self.operator == "sqrt" else f"-{shown(self.right)}"
            )
        return f"{shown(self.left)} {self.operator} {shown(self.right)}"


def shown(value: Symbol) -> str:
    """A symbol, or a number in as many digits as bring it back."""
    if isinstance(value, str):
        return value
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"
