"""Expressions as text: Python, C, and the grammar that `grammar.parse` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from didim.expressions.expression import substitute
from didim.expressions.nodes import Expression, Name, Number, Operation, ordered
from didim.expressions.table import Table, as_table

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)
_INFIX = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}
_SIMPLE = re.compile(r"\w+(\[\w+\]|\.\w+)*", re.ASCII)


@dataclass(frozen=True)
class _Language:
    """How numbers, powers and functions are written."""

    number: Callable[[float], str]
    functions: Mapping[str, str]
    """Names of functions that are not called as in the grammar."""
    power: str
    """The sign of powers; empty: they are calls of pow."""


_PYTHON = _Language(repr, {"abs": "fabs", "sign": "_sign"}, "")
_C = _Language(repr, {"abs": "fabs", "min": "fmin", "max": "fmax"}, "")
_SHOWN = _Language(lambda x: repr(x).removesuffix(".0"), {}, "^")


def python_text(expression: Expression, rename: Mapping[str, str]) -> str:
    """Python, with functions as `from math import ...` names them, min and max of Python, and a
    function `_sign`. Names are replaced by the texts of `rename`; one that is not there stays.
    """
    return _text(substitute(expression, {}), rename, _PYTHON)


def c_text(expression: Expression, rename: Mapping[str, str]) -> str:
    """C with <math.h> and a function `sign`; all numbers are doubles. Names as in `python_text`."""
    return _text(substitute(expression, {}), rename, _C)


def shown(expression: Expression) -> str:
    """The text for reports and files, which `grammar.parse` reads back; tables are tables again."""
    return _text(expression, {}, _SHOWN, _tables(expression))


def _tables(expression: Expression) -> dict[int, Table]:
    """The tables among the parts of an expression."""
    found: dict[int, Table] = {}
    waiting, seen = [expression], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not isinstance(node, Operation):
            continue
        seen.add(id(node))
        table = as_table(node)
        if table:
            found[id(node)] = table
        waiting += [table.x] if table else node.arguments
    return found


def _text(
    expression: Expression,
    rename: Mapping[str, str],
    language: _Language,
    tables: Mapping[int, Table] = MappingProxyType({}),
) -> str:
    done: dict[int, tuple[str, int]] = {}
    for node in ordered([expression]):
        if isinstance(node, Number):
            binding = _ATOM if str(node.value)[0] != "-" else _SIGN
            done[id(node)] = language.number(node.value), binding
        elif isinstance(node, Name):
            text = rename.get(node.name, node.name)
            done[id(node)] = text if _SIMPLE.fullmatch(text) else f"({text})", _ATOM
        elif id(node) in tables:
            x, *columns = tables[id(node)]
            lists = [f"[{', '.join(map(language.number, column))}]" for column in columns]
            done[id(node)] = f"table({done[id(x)][0]}, {', '.join(lists)})", _ATOM
        else:
            done[id(node)] = _operation(node, [done[id(each)] for each in node.arguments], language)
    return done[id(expression)][0]


def _operation(
    node: Operation, arguments: list[tuple[str, int]], language: _Language
) -> tuple[str, int]:
    """The text of an operation, and how tightly it binds."""
    operator = node.operator
    if operator == "neg":
        return f"-{_inside(arguments[0], _POWER)}", _SIGN
    if operator in _INFIX:
        binding = _INFIX[operator]
        space = " " if binding == _SUM else ""
        left = _inside(arguments[0], binding, first=True)
        right = _inside(arguments[1], binding + 1)
        return f"{left}{space}{operator}{space}{right}", binding
    if operator == "pow" and language.power:
        base, exponent = (_inside(each, _ATOM) for each in arguments)
        return f"{base}{language.power}{exponent}", _POWER
    name = language.functions.get(operator, operator)
    return f"{name}({', '.join(text for text, _ in arguments)})", _ATOM


def _inside(argument: tuple[str, int], least: int, first: bool = False) -> str:
    """The text of an argument, in parentheses if it binds less tightly, or if it has a sign and
    something stands before it.
    """
    text, binding = argument
    signed = text[0] == "-" and not first
    return f"({text})" if binding < least or signed else text
