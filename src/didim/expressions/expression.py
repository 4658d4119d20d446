"""What is computed from expressions: their names, substitution, derivatives, values in NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from didim.expressions.nodes import (
    NUMPY,
    ONE,
    ZERO,
    Expression,
    Name,
    Number,
    Operation,
    add,
    divide,
    multiply,
    negate,
    operation,
    ordered,
    power,
    subtract,
)

__all__ = [
    "Expression",
    "Name",
    "Number",
    "Operation",
    "derivative",
    "evaluate",
    "names",
    "operation",
    "substitute",
]

SMALLEST_BASE = 1e-100
"""Stands for a base of 0 in derivatives of powers and roots, so that they are finite there:
d|x|^0.5 = 0.5 |x|^-0.5 sign(x) is 0 at x = 0, not infinity times 0.
"""

_HALF, _TWO = Number(0.5), Number(2.0)


def names(expression: Expression) -> frozenset[str]:
    """The names that occur in an expression."""
    return frozenset(node.name for node in ordered([expression]) if isinstance(node, Name))


def substitute(
    expression: Expression, values: Mapping[str, Expression | float | int]
) -> Expression:
    """The expression with names replaced by other expressions or numbers, simplified."""
    done: dict[int, Expression] = {}
    for node in ordered([expression]):
        result = node
        if isinstance(node, Name) and node.name in values:
            value = values[node.name]
            result = value if isinstance(value, Number | Name | Operation) else Number(value)
        elif isinstance(node, Operation):
            result = operation(node.operator, *(done[id(each)] for each in node.arguments))
        done[id(node)] = result
    return done[id(expression)]


def evaluate(expression: Expression, values: Mapping[str, float | np.ndarray]) -> np.ndarray:
    """The value by NumPy, of the shape that the values of the names broadcast to. The reference
    for compiled code: what is not defined is infinite or not a number, never an exception.
    """
    done: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for node in ordered([expression]):
            if isinstance(node, Number):
                done[id(node)] = np.asarray(node.value)
            elif isinstance(node, Name):
                done[id(node)] = np.asarray(values[node.name], float)
            else:
                done[id(node)] = NUMPY[node.operator](*(done[id(each)] for each in node.arguments))
    return np.asarray(done[id(expression)])


def derivative(expression: Expression, name: str) -> Expression:
    """d expression / d name, exact: d|x| = sign(x), d sign(x) = 0; min and max have the derivative
    of the argument that is taken, and the mean of both where they are equal.
    """
    done: dict[int, Expression] = {}
    for node in ordered([expression]):
        result: Expression = ZERO
        if isinstance(node, Name) and node.name == name:
            result = ONE
        elif isinstance(node, Operation):
            inner = [done[id(each)] for each in node.arguments]
            if any(each != ZERO for each in inner):
                for partial, each in zip(_partials(node), inner, strict=True):
                    result = add(result, multiply(partial, each))
        done[id(node)] = result
    return done[id(expression)]


def _partials(y: Operation) -> tuple[Expression, ...]:
    """The derivatives of an operation with respect to its arguments."""
    a, b = (y.arguments * 2)[:2]
    match y.operator:
        case "+":
            return ONE, ONE
        case "-":
            return ONE, negate(ONE)
        case "*":
            return b, a
        case "/":
            return divide(ONE, b), negate(divide(y, b))
        case "neg":
            return (negate(ONE),)
        case "pow":
            return _of_power(y, a, b)
        case "sin":
            return (operation("cos", a),)
        case "cos":
            return (negate(operation("sin", a)),)
        case "exp":
            return (y,)
        case "log":
            return (divide(ONE, a),)
        case "sqrt":
            return (divide(_HALF, operation("sqrt", _not_zero(a))),)
        case "tanh":
            return (subtract(ONE, power(y, _TWO)),)
        case "abs":
            return (operation("sign", a),)
        case "min" | "max":
            first, second = (b, a) if y.operator == "min" else (a, b)
            larger = operation("sign", subtract(first, second))
            return multiply(_HALF, add(ONE, larger)), multiply(_HALF, subtract(ONE, larger))
    assert y.operator == "sign", y.operator
    return (ZERO,)


def _of_power(y: Expression, a: Expression, b: Expression) -> tuple[Expression, Expression]:
    """b a^(b-1) and a^b log(a). Where the exponent is a whole number from 1 on, the first cannot be
    infinite; elsewhere SMALLEST_BASE stands for a base of 0.
    """
    whole = isinstance(b, Number) and b.value.is_integer() and b.value >= 1
    base = a if whole else _not_zero(a)
    return multiply(b, power(base, subtract(b, ONE))), multiply(y, operation("log", base))


def _not_zero(a: Expression) -> Expression:
    """a, and SMALLEST_BASE where a is 0. Negative values stay: (-2)^n has a derivative if n is
    whole.
    """
    least = Number(SMALLEST_BASE)
    if isinstance(a, Number):
        return a if a.value != 0 else least
    if isinstance(a, Operation) and a.operator in ("abs", "exp", "sqrt"):
        return operation("max", a, least)
    nonzero = operation("abs", operation("sign", a))
    return add(a, multiply(least, subtract(ONE, nonzero)))
