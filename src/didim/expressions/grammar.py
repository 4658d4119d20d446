"""The text of an expression, and the only reading of it: a tokenizer and a precedence parser.

    expression = numbers, names, pi, ( ), + - * / ^ (or **, from the right, before a sign),
                 sin cos exp log sqrt tanh abs sign of one argument, min max of two or more,
                 table(x, [x0, x1, ...], [y0, y1, ...])

Nothing is evaluated by Python, nothing else can be said, and the work grows with the length of the
text, which is limited before it is looked at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple, NoReturn

from didim.errors import InputError, cut, nearest, shortened
from didim.expressions.nodes import Expression, Name, Number, Operation, operation
from didim.expressions.table import MAX_KNOTS, MIN_KNOTS, OPERATIONS_PER_SEGMENT, table

MAX_LETTERS, MAX_LETTERS_WITH_TABLE = 2000, 20_000
MAX_DEPTH = 50
"""Parentheses, calls and powers inside each other."""
MAX_OPERATIONS = 2000
"""Of one expression; a table counts OPERATIONS_PER_SEGMENT for each pair of neighbouring knots."""

FUNCTIONS = ("sin", "cos", "exp", "log", "sqrt", "tanh", "abs", "sign", "min", "max")
RESERVED = frozenset({*FUNCTIONS, "table", "pi"})
"""Words that cannot be names."""

_ALLOWED = (
    "An expression has numbers, names, + - * / ^, parentheses, pi, the functions "
    f"{' '.join(FUNCTIONS)}, and table(x, [x0, x1, ...], [y0, y1, ...])."
)
_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|[-+*/^(),\[\]])|(?P<end>\Z))",
    re.ASCII,
)
_SUM, _PRODUCT, _SIGN, _POWER = 1, 2, 3, 4
_BINDING = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}
_OTHER_SIGNS = {
    ".": "attributes are not known here",
    "'": "text is not known here",
    '"': "text is not known here",
    "=": "arguments have no names, and nothing is compared or assigned",
    "<": "nothing is compared; use min, max or sign",
    ">": "nothing is compared; use min, max or sign",
    "%": "there is no remainder",
    "{": "write parentheses",
}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parse(text: str, known: Collection[str], where: str) -> Expression:
    """The expression that a text says, with names from `known`; an InputError that begins with
    `where` says what is wrong, at which place, and what is allowed.
    """
    parser = _Parser(text, known, where)
    expression = parser.expression(_SUM)
    parser.expect_end()
    return expression


class _Parser:
    """Reads the tokens of a text one after another."""

    def __init__(self, text: str, known: Collection[str], where: str) -> None:
        self._where, self._known, self._text = where, known, ""
        if not isinstance(text, str):
            self._refuse(f"an expression is a text, not {shortened(text)}")
        most = MAX_LETTERS_WITH_TABLE if "table" in text[:MAX_LETTERS_WITH_TABLE] else MAX_LETTERS
        if len(text) > most:
            self._refuse(
                f"{len(text)} letters are more than the {MAX_LETTERS} of an expression "
                f"({MAX_LETTERS_WITH_TABLE} with a table): {cut(text, 40)!a}"
            )
        reserved = sorted(RESERVED.intersection(known))
        if reserved:
            self._refuse(f"{reserved[0]!r} is a word of expressions and cannot be a name")
        self._text = text
        self._at = self._depth = self._operations = 0
        self._token = self._read()

    def expression(self, least: int) -> Expression:
        """What follows, as far as its operators bind at least as tightly as `least`."""
        negative = False
        signed = self._token.text in ("+", "-")
        while self._token.text in ("+", "-"):
            negative ^= self._next().text == "-"
        left = self.expression(_SIGN) if signed else self._atom()
        if negative:
            left = operation("neg", left)
        while _BINDING.get(self._token.text, 0) >= least:
            sign = self._next()
            binding = _BINDING[sign.text]
            self._count(1, sign)
            if sign.text == "^":
                self._enter(sign)
                left = self._finite(sign, "pow", left, self.expression(_POWER))
                self._depth -= 1
            else:
                left = self._finite(sign, sign.text, left, self.expression(binding + 1))
        return left

    def expect_end(self) -> None:
        """Refuse what follows a complete expression."""
        token = self._token
        if token.text == ")":
            self._refuse("there is no '(' for this ')'", token)
        if token.text in ("[", "]"):
            self._refuse("brackets are for the knots of a table alone", token)
        if token.text == ",":
            self._refuse("a comma only separates the arguments of a function", token)
        if token.kind in ("number", "name"):
            self._refuse(f"an operator such as * is missing before {_cut(token)}", token)
        if token.text == "(":
            self._refuse("only functions are called; an operator such as * is missing", token)

    def _atom(self) -> Expression:
        """A number, a name, a call or a parenthesis."""
        token = self._next()
        if token.kind == "number":
            return Number(self._value(token))
        if token.kind == "name":
            return self._call(token) if self._token.text == "(" else self._name(token)
        if token.text != "(":
            found = "the text ends" if token.kind == "end" else f"{token.text!r} stands"
            self._refuse(f"{found} where a number, a name or '(' should", token)
        self._enter(token)
        inner = self.expression(_SUM)
        self._close(")", token)
        self._depth -= 1
        return inner

    def _name(self, token: _Token) -> Expression:
        if token.text == "pi":
            return Number(math.pi)
        if token.text in RESERVED:
            self._refuse(f"{token.text} is a function and needs arguments in parentheses", token)
        if token.text not in self._known:
            self._refuse(
                f"unknown name {_cut(token)}; {nearest(token.text[:80], self._known)}", token
            )
        return Name(token.text)

    def _call(self, function: _Token) -> Expression:
        if function.text == "table":
            return self._table(function)
        if function.text not in FUNCTIONS:
            self._refuse(f"{_cut(function)} is not a function", function)
        parenthesis = self._next()
        self._enter(function)
        arguments = [] if self._token.text == ")" else [self.expression(_SUM)]
        while self._token.text == ",":
            self._next()
            arguments.append(self.expression(_SUM))
        self._close(")", parenthesis)
        self._depth -= 1
        several = function.text in ("min", "max")
        if (len(arguments) < 2) if several else (len(arguments) != 1):
            wanted = "two or more arguments" if several else "one argument"
            self._refuse(f"{function.text} takes {wanted}, not {len(arguments)}", function)
        result = arguments[0]
        self._count(max(len(arguments) - 1, 1), function)
        if not several:
            return self._finite(function, function.text, result)
        for each in arguments[1:]:
            result = self._finite(function, function.text, result, each)
        return result

    def _table(self, function: _Token) -> Expression:
        parenthesis = self._next()
        self._enter(function)
        x = self.expression(_SUM)
        columns = []
        for _ in range(2):
            if self._token.text != ",":
                self._refuse("table takes x and two lists of knots in brackets", self._token)
            self._next()
            columns.append(self._knots())
        self._close(")", parenthesis)
        self._depth -= 1
        at, values = columns
        if len(at) != len(values):
            self._refuse(f"the table has {len(at)} knots and {len(values)} values", function)
        if not MIN_KNOTS <= len(at) <= MAX_KNOTS:
            self._refuse(f"a table has {MIN_KNOTS} to {MAX_KNOTS} knots, not {len(at)}", function)
        for before, after in pairwise(at):
            if not before < after:
                self._refuse(f"the knots of a table must rise, not {before!r}, {after!r}", function)
            if not math.isfinite(after - before):
                self._refuse("the knots of a table are too far apart", function)
        self._count(OPERATIONS_PER_SEGMENT * (len(at) - 1), function)
        try:
            return table(x, at, values)
        except InputError:
            self._refuse("the slope of the table is infinite", function)

    def _knots(self) -> list[float]:
        """[x0, x1, ...], numbers with or without a sign."""
        bracket = self._next()
        if bracket.text != "[":
            self._refuse("a list of knots in brackets should stand here", bracket)
        knots: list[float] = []
        while True:
            negative = self._token.text == "-"
            if self._token.text in ("+", "-"):
                self._next()
            token = self._next()
            if token.kind != "number":
                self._refuse("the knots of a table are numbers", token)
            knots.append(-self._value(token) if negative else self._value(token))
            if self._token.text != ",":
                break
            self._next()
        self._close("]", bracket)
        return knots

    def _value(self, token: _Token) -> float:
        value = float(token.text)
        if not math.isfinite(value):
            self._refuse(f"{_cut(token)} is too large for a number", token)
        return value

    def _finite(self, token: _Token, operator: str, *arguments: Expression) -> Expression:
        """An operation; one on numbers alone must have a finite result."""
        result = operation(operator, *arguments)
        if isinstance(result, Operation) and all(isinstance(each, Number) for each in arguments):
            self._refuse("the result of this operation is not a finite number", token)
        return result

    def _count(self, count: int, token: _Token) -> None:
        self._operations += count
        if self._operations > MAX_OPERATIONS:
            self._refuse(f"there are more than {MAX_OPERATIONS} operations", token)

    def _enter(self, token: _Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} levels are nested", token)

    def _close(self, bracket: str, opened: _Token) -> None:
        if self._token.text != bracket:
            if self._token.kind != "end":
                self.expect_end()
            self._refuse(f"there is no {bracket!r} for this {opened.text!r}", opened)
        self._next()

    def _next(self) -> _Token:
        token = self._token
        if token.kind != "end":
            self._token = self._read()
        return token

    def _read(self) -> _Token:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            blank = len(self._text[self._at :]) - len(self._text[self._at :].lstrip(" \t\r\n"))
            wrong = _Token("wrong", self._text[self._at + blank], self._at + blank)
            why = _OTHER_SIGNS.get(wrong.text, "it means nothing here")
            self._refuse(f"{wrong.text!a} cannot stand in an expression: {why}", wrong)
        self._at = found.end()
        kind = str(found.lastgroup)
        text = found[kind]
        return _Token(kind, "^" if text == "**" else text, found.start(kind))

    def _refuse(self, what: str, token: _Token | None = None) -> NoReturn:
        place = ""
        if token is not None:
            start = max(token.at - 20, 0)
            shown = cut(self._text[start : token.at + 41], token.at - start + 20)
            place = f", at letter {token.at + 1}: {'...' if start else ''}{shown!a}"
        raise InputError(f"{cut(self._where, 200)}: {what}{place}. {_ALLOWED}")


def _cut(token: _Token) -> str:
    return repr(cut(token.text, 40))
