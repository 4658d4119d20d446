"""Piecewise linear tables as arithmetic: nothing else need know them.

    y(x) = y0 + sum over k of s_k (min(max(x, x_k), x_k+1) - x_k),
    s_k = (y_k+1 - y_k) / (x_k+1 - x_k)

It is constant beyond the ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from didim.expressions.nodes import Expression, Number, add, multiply, operation, subtract

MIN_KNOTS, MAX_KNOTS = 2, 200
OPERATIONS_PER_SEGMENT = 5


def table(x: Expression, at: Sequence[float], values: Sequence[float]) -> Expression:
    """The values (K,) at knots (K,) that strictly rise, between them by straight lines."""
    result: Expression = Number(values[0])
    for k in range(len(at) - 1):
        slope = Number((values[k + 1] - values[k]) / (at[k + 1] - at[k]))
        left, right = Number(at[k]), Number(at[k + 1])
        inside = operation("min", operation("max", x, left), right)
        result = add(result, multiply(slope, subtract(inside, left)))
    return result
