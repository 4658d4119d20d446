"""The tokens of an expression's text, read one after another, and the error that names a place.

Nothing but ASCII numbers, names and a few signs passes, and a text that is too long is refused
before it is looked at.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, NoReturn

from didim.errors import InputError, cut, shortened

MAX_CHARACTERS, MAX_CHARACTERS_WITH_TABLE = 2000, 20_000

FUNCTIONS = ("sin", "cos", "exp", "log", "sqrt", "tanh", "abs", "sign", "min", "max")
RESERVED = frozenset({*FUNCTIONS, "table", "pi"})
"""Words that cannot be names."""

_ALLOWED = (
    "An expression has numbers, names, + - * / ^, parentheses, pi, the functions "
    f"{' '.join(FUNCTIONS)}, and table(x, [x0, x1, ...], [y0, y1, ...])."
)
_BLANK = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|[-+*/^(),\[\]])",
    re.ASCII,
)
_MAX_SHOWN_NAME, _MAX_SHOWN_WHERE, _MAX_SHOWN_BEFORE, _MAX_SHOWN_AFTER = 40, 200, 20, 40
_REASONS = {
    ".": "there are no attributes",
    "'": "there are no strings",
    '"': "there are no strings",
    "=": "there are no keywords, comparisons or assignments",
    "<": "there are no comparisons; use min, max or sign",
    ">": "there are no comparisons; use min, max or sign",
    "!": "there are no comparisons; use min, max or sign",
    "%": "there is no remainder",
    "{": "write parentheses",
}


class Token(NamedTuple):
    """A piece of a text: `kind` is number, name, sign or end; `at` is where it begins."""

    kind: str
    text: str
    at: int

    @property
    def shown(self) -> str:
        """The token for an error message."""
        return "the end" if self.kind == "end" else repr(cut(self.text, _MAX_SHOWN_NAME))


class Tokens:
    """The tokens of a text; `current` is the next one that is not yet taken."""

    def __init__(self, text: str, where: str) -> None:
        self._where, self._text, self._at = where, "", 0
        if not isinstance(text, str):
            self.refuse(f"an expression must be a string, not {shortened(text)}")
        has_table = "table" in text[:MAX_CHARACTERS_WITH_TABLE]
        if len(text) > (MAX_CHARACTERS_WITH_TABLE if has_table else MAX_CHARACTERS):
            self.refuse(
                f"an expression has at most {MAX_CHARACTERS} characters, with a table "
                f"{MAX_CHARACTERS_WITH_TABLE}; this one has {len(text)}: "
                f"{cut(text, _MAX_SHOWN_AFTER)!a}"
            )
        if not text.strip():
            self.refuse("the expression is empty")
        self._text = text
        self.current = self._read()

    def take(self) -> Token:
        """The current token; the one after it becomes current."""
        token = self.current
        if token.kind != "end":
            self.current = self._read()
        return token

    def value(self, token: Token) -> float:
        """The value of a number."""
        value = float(token.text)
        if not math.isfinite(value):
            self.refuse(f"{token.shown} is too large for a number", token)
        return value

    def refuse(self, problem: str, token: Token | None = None, hint: str = _ALLOWED) -> NoReturn:
        """Raise the error that says where and what the problem is, and what is allowed."""
        place = ""
        if token is not None:
            start = max(token.at - _MAX_SHOWN_BEFORE, 0)
            near = cut(self._text[start:], token.at - start + _MAX_SHOWN_AFTER)
            place = f", at character {token.at + 1}, {'...' if start else ''}{near!a}"
        where = cut(self._where, _MAX_SHOWN_WHERE)
        raise InputError(f"{where}: {problem}{place}. {hint[:1].upper()}{hint[1:]}")

    def _read(self) -> Token:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        if self._at == len(self._text):
            return Token("end", "", self._at)
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            wrong = Token("wrong", self._text[self._at], self._at)
            other = "it means nothing" if wrong.text.isascii() else "only ASCII characters are"
            reason = _REASONS.get(wrong.text, other)
            self.refuse(f"{wrong.text!a} is not allowed: {reason}", wrong)
        self._at = found.end()
        return Token(str(found.lastgroup), found[0], found.start())
