"""The two ways in which didim refuses to go on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

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


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the name of a file or study before an error that does not give it."""
    try:
        yield
    except InputError as problem:
        if str(problem).startswith(f"{name}: "):
            raise
        raise InputError(f"{name}: {problem}") from problem


def shortened(value: object, most: int = 80) -> str:
    """A value for an error message: on one line, and not longer than a reader wants."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of thousands of digits
        return "a number with too many digits"
    except Exception:  # such as a list that is nested too deeply, or an object of the user
        return f"an object of type {type(value).__name__}"
    return cut(text, most)


def readable(message: str) -> str:
    """A message without the middle of a name or list that nobody would read to its end."""
    half = MAX_MESSAGE // 2
    if len(message) <= MAX_MESSAGE:
        return message
    return f"{message[:half]} ... {message[-half:]}"


def text_of(problem: BaseException) -> str:
    """The message of an error; empty where it has none, or cannot say it."""
    try:
        return str(problem)
    except Exception:  # of a class of the user
        return ""


def internal_error(problem: BaseException) -> str:
    """What a user is told about a bug in didim, on one line."""
    message = f"{type(problem).__name__}: {text_of(problem)}".splitlines()[0]
    return f"internal error, please report it with the output of --debug: {message}"


def as_utf_8(text: str) -> str:
    """A text with the name of a file that is not UTF-8, as a table can hold it."""
    return text.encode("utf-8", "backslashreplace").decode()


def cut(text: str, most: int) -> str:
    """A text that is not longer than a reader wants."""
    return text if len(text) <= most else f"{text[:most]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """The known words, led by the one closest to `word`, as the tail of an error message."""
    names = sorted(known, key=by_numbers)
    close = difflib.get_close_matches(word, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Known: {', '.join(names)}."


def by_numbers(name: str) -> list[tuple[int, str]]:
    """The key of the natural order, in which tau2 comes before tau10."""
    return [
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part)
        for part in re.split(r"([0-9]{1,18})", name)
    ]
