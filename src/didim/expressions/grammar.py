"""The grammar of expressions, and the only reading of their text: a precedence parser.

    numbers, names, pi, ( ), + - * /, ^ or ** (from the right, tighter than a sign before it),
    sin cos exp log sqrt tanh abs sign of one argument, min max of two or more,
    table(x, [x0, x1, ...], [y0, y1, ...]): piecewise linear, constant beyond the ends

Nothing is evaluated by Python, nothing else can be said, and the work grows with the length of the
text.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from didim.errors import nearest
from didim.expressions.nodes import Expression, Name, Number, Operation, operation
from didim.expressions.table import OPERATIONS_PER_SEGMENT, problem_of, table
from didim.expressions.tokens import FUNCTIONS, RESERVED, Token, Tokens

MAX_DEPTH = 50
"""Parentheses, calls and powers inside each other."""
MAX_OPERATIONS = 2000
"""Of one expression; a table counts OPERATIONS_PER_SEGMENT for each pair of neighbouring knots."""

_SUM, _PRODUCT, _SIGN, _POWER = 1, 2, 3, 4
_BINDING = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER, "**": _POWER}


def parse(text: str, known: Collection[str], where: str) -> Expression:
    """The expression that a text says, with names from `known`; an InputError that begins with
    `where` says what is wrong, at which place, and what is allowed.
    """
    tokens = Tokens(text, where)
    reserved = sorted(RESERVED.intersection(known))
    if reserved:
        tokens.refuse(f"{reserved[0]!r} is a word of expressions and cannot be a name")
    parser = _Parser(tokens, known)
    expression = parser.expression(_SUM)
    if tokens.current.kind != "end":
        parser.refuse_rest()
    return expression


class _Parser:
    """Builds an expression from tokens."""

    def __init__(self, tokens: Tokens, known: Collection[str]) -> None:
        self._tokens, self._known = tokens, known
        self._depth = self._operations = 0

    def expression(self, least: int) -> Expression:
        """What follows, as far as its operators bind at least as tightly as `least`."""
        signed = self._next_is("+", "-")
        negative = False
        while self._next_is("+", "-"):
            negative ^= self._tokens.take().text == "-"
        left = self.expression(_SIGN) if signed else self._atom()
        if negative:
            left = operation("neg", left)
        while _BINDING.get(self._tokens.current.text, 0) >= least:
            sign = self._tokens.take()
            binding = _BINDING[sign.text]
            self._count(1, sign)
            if binding == _POWER:
                self._enter(sign)
                left = self._finite(sign, "pow", left, self.expression(_POWER))
                self._depth -= 1
            else:
                left = self._finite(sign, sign.text, left, self.expression(binding + 1))
        return left

    def refuse_rest(self) -> None:
        """Refuse the token that follows a complete expression and cannot."""
        token = self._tokens.current
        if token.text == ")":
            problem = "there is no '(' for this ')'"
        elif token.text in ("[", "]"):
            problem = "there is no indexing; brackets hold the knots of a table"
        elif token.text == ",":
            problem = "a comma may only separate the arguments of a function"
        else:
            problem = f"an operator such as * is missing before {token.shown}"
        self._tokens.refuse(problem, token)

    def _atom(self) -> Expression:
        """A number, a name, a call or a parenthesis."""
        token = self._tokens.take()
        if token.kind == "number":
            return Number(self._tokens.value(token))
        if token.kind == "name":
            return self._call(token) if self._next_is("(") else self._name(token)
        if token.text != "(":
            self._tokens.refuse(
                f"a number, a name or '(' is expected here, not {token.shown}", token
            )
        self._enter(token)
        inner = self.expression(_SUM)
        self._close(")", token)
        self._depth -= 1
        return inner

    def _name(self, token: Token) -> Expression:
        if token.text == "pi":
            return Number(math.pi)
        if token.text in RESERVED:
            self._tokens.refuse(f"{token.text} needs arguments in parentheses", token)
        if token.text not in self._known:
            hint = nearest(token.text[:80], self._known)
            self._tokens.refuse(f"unknown name {token.shown}", token, hint)
        return Name(token.text)

    def _call(self, function: Token) -> Expression:
        if function.text == "table":
            return self._table(function)
        if function.text not in FUNCTIONS:
            self._tokens.refuse(f"{function.shown} is not a function", function)
        parenthesis = self._tokens.take()
        self._enter(function)
        arguments = [] if self._next_is(")") else [self.expression(_SUM)]
        while self._next_is(","):
            self._tokens.take()
            arguments.append(self.expression(_SUM))
        self._close(")", parenthesis)
        self._depth -= 1
        several = function.text in ("min", "max")
        if (len(arguments) < 2) if several else (len(arguments) != 1):
            wanted = "two or more arguments" if several else "one argument"
            self._tokens.refuse(f"{function.text} takes {wanted}, not {len(arguments)}", function)
        self._count(max(len(arguments) - 1, 1), function)
        if not several:
            return self._finite(function, function.text, *arguments)
        result = arguments[0]
        for each in arguments[1:]:
            result = self._finite(function, function.text, result, each)
        return result

    def _table(self, function: Token) -> Expression:
        parenthesis = self._tokens.take()
        self._enter(function)
        x = self.expression(_SUM)
        columns = []
        for _ in range(2):
            if not self._next_is(","):
                self._tokens.refuse("table takes x and two lists in brackets", function)
            self._tokens.take()
            columns.append(self._knots())
        self._close(")", parenthesis)
        self._depth -= 1
        problem = problem_of(*columns)
        if problem:
            self._tokens.refuse(problem, function)
        self._count(OPERATIONS_PER_SEGMENT * (len(columns[0]) - 1), function)
        return table(x, *columns)

    def _knots(self) -> list[float]:
        """[x0, x1, ...], numbers with or without a sign."""
        bracket = self._tokens.take()
        if bracket.text != "[":
            self._tokens.refuse("a list of numbers in brackets is expected here", bracket)
        knots: list[float] = []
        while not knots or self._next_is(","):
            if knots:
                self._tokens.take()
            sign = self._tokens.take().text if self._next_is("+", "-") else "+"
            token = self._tokens.take()
            if token.kind != "number":
                self._tokens.refuse("the knots of a table are numbers", token)
            knots.append(self._tokens.value(token) * (-1 if sign == "-" else 1))
        self._close("]", bracket)
        return knots

    def _next_is(self, *signs: str) -> bool:
        return self._tokens.current.text in signs

    def _finite(self, token: Token, operator: str, *arguments: Expression) -> Expression:
        """An operation; one on numbers alone must have a finite result."""
        result = operation(operator, *arguments)
        if isinstance(result, Operation) and all(isinstance(each, Number) for each in arguments):
            self._tokens.refuse("the result of this operation is not a finite number", token)
        return result

    def _count(self, count: int, token: Token) -> None:
        self._operations += count
        if self._operations > MAX_OPERATIONS:
            self._tokens.refuse(f"there are more than {MAX_OPERATIONS} operations", token)

    def _enter(self, token: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._tokens.refuse(f"more than {MAX_DEPTH} levels are nested", token)

    def _close(self, bracket: str, opened: Token) -> None:
        if self._next_is(bracket):
            self._tokens.take()
        elif self._tokens.current.kind == "end":
            self._tokens.refuse(f"there is no {bracket!r} for this {opened.text!r}", opened)
        else:
            self.refuse_rest()
