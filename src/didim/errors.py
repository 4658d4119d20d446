"""The two ways in which didim refuses to go on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_MESSAGE = 2000
"""Letters of an error message."""


class InputError(ValueError):
    """Something given from outside is wrong; the message names it, what was expected and what was
    found.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(readable(message))


class InfeasibleError(ArithmeticError):
    """The parameters are not physically consistent: the inertia matrix is not positive
    definite.
    """


def shortened(value: object, most: int = 80) -> str:
    """A value for an error message: on one line, and not longer than a reader wants."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number with too many digits"
    return text if len(text) <= most else f"{text[:most]}..."


def readable(message: str) -> str:
    """A message without the middle of a name or list that nobody would read to its end."""
    half = MAX_MESSAGE // 2
    if len(message) <= MAX_MESSAGE:
        return message
    return f"{message[:half]} ... {message[-half:]}"


def internal_error(problem: Exception) -> str:
    """What a user is told about a bug in didim, on one line."""
    message = f"{type(problem).__name__}: {problem}".splitlines()[0]
    return f"internal error, please report it with the output of --debug: {message}"


def cut(text: str, most: int) -> str:
    """A text that is not longer than a reader wants."""
    return text if len(text) <= most else f"{text[:most]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """The known words, led by the one closest to `word`, as the tail of an error message."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names)}."
