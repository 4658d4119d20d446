"""Piecewise linear tables as arithmetic, which nothing else need know, and back for printing.

    y(x) = y_0 + sum over k of s_k (min(max(x, x_k), x_k+1) - x_k)

with the slopes s_k, without those that are 0; it is constant beyond the ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from didim.expressions.nodes import Expression, Number, Operation

MIN_KNOTS, MAX_KNOTS = 2, 200
OPERATIONS_PER_SEGMENT = 5

_MAX_DIGITS = 17
"""Decimal digits that tell all floats apart."""


class Table(NamedTuple):
    """The arguments of a table: x, the knots (K,) and the values (K,) there."""

    x: Expression
    at: list[float]
    values: list[float]


def slopes(at: Sequence[float], values: Sequence[float]) -> list[float]:
    """(K - 1,) slopes between knots (K,) that strictly rise; one that is too large for a number is
    not finite.
    """
    return [
        (after - before) / (right - left)
        for (left, right), (before, after) in zip(pairwise(at), pairwise(values), strict=True)
    ]


def table(x: Expression, at: Sequence[float], values: Sequence[float]) -> Expression:
    """The values (K,) at knots (K,) that strictly rise, between them by straight lines. Its terms
    are not simplified, so that `as_table` finds them.
    """
    result: Expression = Number(values[0])
    for slope, (a, b) in zip(slopes(at, values), pairwise(at), strict=True):
        if slope != 0:
            left, right = Number(a), Number(b)
            inside = Operation("min", (Operation("max", (x, left)), right))
            term = Operation("*", (Number(slope), Operation("-", (inside, left))))
            result = Operation("+", (result, term))
    return result


def as_table(expression: Expression) -> Table | None:
    """The table that `table` made this expression of, up to parts without slope at its ends; None
    if it is none. `table` of it is the same expression.
    """
    segments = []
    rest = expression
    while isinstance(rest, Operation) and rest.operator == "+":
        segment = _segment(rest.arguments[1])
        if segment is None:
            return None
        segments.append(segment)
        rest = rest.arguments[0]
    if not segments or not isinstance(rest, Number):
        return None
    x, _, at, _ = segments[-1]
    found = Table(x, [at], [rest.value])
    for inner, slope, left, right in reversed(segments):
        if inner != x or left < found.at[-1]:
            return None
        if left > found.at[-1]:
            found.at.append(left)
            found.values.append(found.values[-1])
        before, width = found.values[-1], right - left
        ends = (y for y in _near(before + slope * width) if (y - before) / width == slope)
        value = next(ends, None)
        if value is None:
            return None
        found.at.append(right)
        found.values.append(value)
    return found if len(found.at) <= MAX_KNOTS else None


def _segment(term: Expression) -> tuple[Expression, float, float, float] | None:
    """x, slope, left and right end of a term s (min(max(x, left), right) - left)."""
    match term:
        case Operation(
            "*",
            (
                Number(slope),
                Operation(
                    "-",
                    (
                        Operation("min", (Operation("max", (x, Number(left))), Number(right))),
                        Number(start),
                    ),
                ),
            ),
        ) if start == left < right:
            return x, slope, left, right
    return None


def _near(value: float) -> Iterator[float]:
    """The value in few digits, in more, and its neighbours."""
    for digits in range(1, _MAX_DIGITS + 1):
        yield float(f"{value:.{digits}g}")
    for towards in (math.inf, -math.inf):
        near = value
        for _ in range(8):
            near = math.nextafter(near, towards)
            yield near
