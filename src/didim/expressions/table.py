"""Piecewise linear tables as arithmetic, which nothing else need know, and back for printing.

    y(x) = y_0 + sum over k of (y_k+1 - y_k) / (x_k+1 - x_k) (min(max(x, x_k), x_k+1) - x_k)

It is constant beyond the ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from didim.expressions.nodes import Expression, Number, Operation

MIN_KNOTS, MAX_KNOTS = 2, 200
OPERATIONS_PER_SEGMENT = 5


class Table(NamedTuple):
    """The arguments of a table: x, the knots (K,) and the values (K,) there."""

    x: Expression
    knots: Sequence[float]
    values: Sequence[float]


class _Segment(NamedTuple):
    """A table between two neighbouring knots."""

    x: Expression
    left: float
    right: float
    before: float
    after: float


def problem_of(knots: Sequence[float], values: Sequence[float]) -> str | None:
    """What is wrong with the lists of a table, if anything."""
    if len(knots) != len(values):
        return f"the table has {len(knots)} knots, but {len(values)} values"
    if not MIN_KNOTS <= len(knots) <= MAX_KNOTS:
        return f"a table has {MIN_KNOTS} to {MAX_KNOTS} knots, not {len(knots)}"
    if not all(left < right for left, right in pairwise(knots)):
        return "the knots of a table must rise strictly"
    slopes = [
        (after - before) / (right - left)
        for (left, right), (before, after) in zip(pairwise(knots), pairwise(values), strict=True)
    ]
    if not all(map(math.isfinite, (knots[-1] - knots[0], *slopes))):
        return "the table is too wide or too steep"
    return None


def table(x: Expression, knots: Sequence[float], values: Sequence[float]) -> Expression:
    """The values (K,) at knots (K,), between them by straight lines. Its numbers are not folded, so
    that `as_table` finds them.
    """
    result: Expression = Number(values[0])
    for (left, right), (before, after) in zip(pairwise(knots), pairwise(values), strict=True):
        segment = _Segment(x, left, right, before, after)
        result = Operation("+", (result, _term(segment)))
    return result


def as_table(expression: Expression) -> Table | None:
    """The arguments of `table` that give this expression; None if there are none."""
    segments: list[_Segment] = []
    rest = expression
    while isinstance(rest, Operation) and rest.operator == "+":
        segment = _segment(rest.arguments[1])
        if segment is None:
            return None
        segments.append(segment)
        rest = rest.arguments[0]
    if not segments:
        return None
    segments.reverse()
    knots = [segments[0].left, *(segment.right for segment in segments)]
    values = [segments[0].before, *(segment.after for segment in segments)]
    found = Table(segments[0].x, knots, values)
    return found if problem_of(knots, values) is None and table(*found) == expression else None


def _term(segment: _Segment) -> Expression:
    x, left, right, before, after = segment
    rise, width = _difference(after, before), _difference(right, left)
    inside = Operation("min", (Operation("max", (x, Number(left))), Number(right)))
    slope = Operation("/", (rise, width))
    return Operation("*", (slope, Operation("-", (inside, Number(left)))))


def _difference(a: float, b: float) -> Expression:
    return Operation("-", (Number(a), Number(b)))


def _segment(term: Expression) -> _Segment | None:
    """The segment of a term that `_term` may have made; which of them it is, the caller checks."""
    match term:
        case Operation(
            "*",
            (
                Operation("/", (Operation("-", (Number(after), Number(before))), _)),
                Operation(
                    "-",
                    (Operation("min", (Operation("max", (x, Number(left))), Number(right))), _),
                ),
            ),
        ):
            return _Segment(x, left, right, before, after)
    return None
