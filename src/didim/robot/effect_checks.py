"""The types of what an effect is declared with: files and callers give anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from didim.errors import InputError, shortened

MAX_ABOUT = 200
"""Letters of the line that says what an effect is."""

MAX_SYMBOLS = 50
"""Parameters, numbers and abbreviations of one effect."""


def is_number(value: Any) -> bool:
    """Whether it is a finite number of a sensible size."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and bool(abs(value) < 1e12)


def is_symbol(word: Any) -> bool:
    """Whether it is a word that can name an effect, a parameter or a channel."""
    return isinstance(word, str) and word.isidentifier() and word.isascii() and len(word) <= 40


def check_types(given: Mapping[str, Any], where: str) -> None:
    """Refuse fields of an effect, by name, that have another type than they should."""
    if not isinstance(given["torque"], str):
        raise _wrong(where, "torque", "an expression, written as a text", given["torque"])
    for key in ("unknown", "fixed", "let", "weights"):
        if not isinstance(given[key], Mapping):
            raise _wrong(where, key, "a table", given[key])
        if len(given[key]) > MAX_SYMBOLS:
            raise InputError(f"{where}: {key} has more than {MAX_SYMBOLS} entries.")
    for symbol, value in given["fixed"].items():
        if not is_number(value):
            raise _wrong(where, f"fixed {shortened(symbol, 40)}", "a finite number", value)
    for joint, value in given["weights"].items():
        if not is_number(value):
            raise _wrong(where, f"the weight of {shortened(joint, 40)}", "a finite number", value)
    for symbol, text in given["let"].items():
        if not isinstance(text, str):
            raise _wrong(where, f"let {shortened(symbol, 40)}", "an expression, a text", text)
    joint = given["joint"]
    if joint is not None and (isinstance(joint, bool) or not isinstance(joint, int | str)):
        raise _wrong(where, "joint", "the number of a joint, from 1, or its name", joint)
    channels = given["channels"]
    if not isinstance(channels, list | tuple) or not all(isinstance(c, str) for c in channels):
        raise _wrong(where, "channels", "a list of names", channels)
    if not isinstance(given["conservative"], bool):
        raise _wrong(where, "conservative", "true or false", given["conservative"])
    about = given["about"]
    if not isinstance(about, str) or not about.isprintable() or len(about) > MAX_ABOUT:
        raise _wrong(where, "about", f"one line of at most {MAX_ABOUT} letters", about)


def _wrong(where: str, key: str, expected: str, found: object) -> InputError:
    return InputError(f"{where}: {key} must be {expected}, found {shortened(found)}.")
