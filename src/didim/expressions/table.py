"""Piecewise linear tables as arithmetic: nothing else need know them.

    y(x) = y_0 + sum over k of s_k (min(max(x, x_k), x_k+1) - x_k)

with the slopes s_k; it is constant beyond the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from didim.expressions.nodes import Expression, Number, add, multiply, operation, subtract

MIN_KNOTS, MAX_KNOTS = 2, 200
OPERATIONS_PER_SEGMENT = 5


def slopes(at: Sequence[float], values: Sequence[float]) -> list[float]:
    """(K - 1,) slopes between knots (K,) that strictly rise; one that is too large for a number is
    not finite.
    """
    return [
        (after - before) / (right - left)
        for (left, right), (before, after) in zip(pairwise(at), pairwise(values), strict=True)
    ]


def table(x: Expression, at: Sequence[float], values: Sequence[float]) -> Expression:
    """The values (K,) at knots (K,) that strictly rise, between them by straight lines."""
    result: Expression = Number(values[0])
    for slope, (a, b) in zip(slopes(at, values), pairwise(at), strict=True):
        left, right = Number(a), Number(b)
        inside = operation("min", operation("max", x, left), right)
        result = add(result, multiply(Number(slope), subtract(inside, left)))
    return result
