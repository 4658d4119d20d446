"""Expression trees: numbers, names and operations, immutable, compared by structure.

A subtree may occur in many places (derivatives share theirs with their function), and a sum of a
thousand terms is a thousand levels deep. Everything that walks a tree therefore goes through
`ordered`, which visits each distinct node once, without recursion.

The constructors `add`, `multiply`, ... fold numbers and drop what has no effect: 0 x = 0, 1 x = x,
x + 0 = x, x^1 = x, -(-x) = x. A result that is not finite, such as 1 / 0, is left as an operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from didim.errors import InputError

NUMPY: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "abs": np.abs,
    "sign": np.sign,
    "min": np.minimum,
    "max": np.maximum,
}
"""The operators, and what each computes. All take floats; one that is not a number stays none."""

BINARY = frozenset({"+", "-", "*", "/", "pow", "min", "max"})
"""The operators of two arguments; all others have one."""


@dataclass(frozen=True)
class Number:
    """A finite number."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InputError(f"A number of an expression must be finite, not {self.value}.")
        object.__setattr__(self, "value", float(self.value))


@dataclass(frozen=True)
class Name:
    """An input or a parameter, by name."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Operation:
    """An operator of `NUMPY` on its arguments, one or two. Equal to every operation of the same
    structure.
    """

    operator: str
    arguments: tuple[Expression, ...]
    _hash: int = field(init=False)

    def __post_init__(self) -> None:
        _check(self.operator, len(self.arguments))
        object.__setattr__(self, "_hash", hash((self.operator, self.arguments)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operation):
            return NotImplemented
        pairs: list[tuple[Expression, Expression]] = [(self, other)]
        seen: set[tuple[int, int]] = set()
        while pairs:
            a, b = pairs.pop()
            if a is b or (id(a), id(b)) in seen:
                continue
            seen.add((id(a), id(b)))
            if not (isinstance(a, Operation) and isinstance(b, Operation)):
                if a != b:
                    return False
                continue
            if a._hash != b._hash or a.operator != b.operator:
                return False
            pairs += zip(a.arguments, b.arguments, strict=True)
        return True

    def __repr__(self) -> str:
        return f"Operation({self.operator!r}, of {len(ordered([self])) - 1} distinct nodes)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a flat list: neither deep nor with a hash that holds in one process only."""
        nodes = ordered([self])
        place = {id(node): k for k, node in enumerate(nodes)}
        rows = [
            (node.operator, *(place[id(each)] for each in node.arguments))
            if isinstance(node, Operation)
            else node
            for node in nodes
        ]
        return _rebuilt, (rows,)


Expression = Number | Name | Operation


def _rebuilt(rows: Sequence[Any]) -> Expression:
    """The expression that `Operation.__reduce__` took apart."""
    nodes: list[Expression] = []
    for row in rows:
        is_operation = isinstance(row, tuple)
        nodes.append(Operation(row[0], tuple(nodes[k] for k in row[1:])) if is_operation else row)
    return nodes[-1]


def ordered(expressions: Iterable[Expression]) -> list[Expression]:
    """Every distinct object among the expressions and their parts, arguments before operations."""
    found: list[Expression] = []
    done: set[int] = set()
    for root in expressions:
        waiting = [(root, False)]
        while waiting:
            node, arguments_done = waiting.pop()
            if id(node) in done:
                continue
            if isinstance(node, Operation) and not arguments_done:
                waiting.append((node, True))
                waiting += [(each, False) for each in reversed(node.arguments)]
                continue
            done.add(id(node))
            found.append(node)
    return found


ZERO, ONE = Number(0.0), Number(1.0)


def _check(operator: str, count: int) -> None:
    if operator not in NUMPY or count != 1 + (operator in BINARY):
        raise InputError(f"There is no operator {operator!r} of {count} arguments.")


def operation(operator: str, *arguments: Expression) -> Expression:
    """The operator on its arguments, simplified."""
    _check(operator, len(arguments))
    simplified = _SIMPLIFIED.get(operator)
    if all(isinstance(each, Number) for each in arguments) or simplified is None:
        return _folded(operator, *arguments)
    return simplified(*arguments)


def add(a: Expression, b: Expression) -> Expression:
    """a + b."""
    if a == ZERO or b == ZERO:
        return b if a == ZERO else a
    if _is(b, "neg"):
        return subtract(a, _inner(b))
    return _folded("+", a, b)


def subtract(a: Expression, b: Expression) -> Expression:
    """a - b."""
    if a == ZERO or b == ZERO:
        return negate(b) if a == ZERO else a
    if a == b:
        return ZERO
    if _is(b, "neg"):
        return add(a, _inner(b))
    return _folded("-", a, b)


def multiply(a: Expression, b: Expression) -> Expression:
    """a b."""
    if ZERO in (a, b):
        return ZERO
    if _is(a, "neg"):
        return negate(multiply(_inner(a), b))
    if _is(b, "neg"):
        return negate(multiply(a, _inner(b)))
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Number) and one.value in (1.0, -1.0):
            return other if one.value == 1.0 else negate(other)
    return _folded("*", a, b)


def divide(a: Expression, b: Expression) -> Expression:
    """a / b."""
    if a == ZERO and b != ZERO:
        return ZERO
    if _is(a, "neg"):
        return negate(divide(_inner(a), b))
    if _is(b, "neg"):
        return negate(divide(a, _inner(b)))
    if isinstance(b, Number) and b.value in (1.0, -1.0):
        return a if b.value == 1.0 else negate(a)
    return _folded("/", a, b)


def power(a: Expression, b: Expression) -> Expression:
    """a^b."""
    if b == ZERO or a == ONE:
        return ONE
    return a if b == ONE else _folded("pow", a, b)


def negate(a: Expression) -> Expression:
    """-a."""
    return _inner(a) if _is(a, "neg") else _folded("neg", a)


def absolute(a: Expression) -> Expression:
    """|a|."""
    return a if _is(a, "abs") else _folded("abs", _inner(a) if _is(a, "neg") else a)


_SIMPLIFIED: dict[str, Callable[..., Expression]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "pow": power,
    "neg": negate,
    "abs": absolute,
}


def _is(expression: Expression, operator: str) -> bool:
    return isinstance(expression, Operation) and expression.operator == operator


def _inner(expression: Expression) -> Expression:
    assert isinstance(expression, Operation)
    return expression.arguments[0]


def _folded(operator: str, *arguments: Expression) -> Expression:
    """A number if all arguments are numbers and the result is finite, else the operation."""
    values = [each.value for each in arguments if isinstance(each, Number)]
    if len(values) == len(arguments):
        with np.errstate(all="ignore"):
            value = float(NUMPY[operator](*values))
        if math.isfinite(value):
            return Number(value)
    return Operation(operator, arguments)
