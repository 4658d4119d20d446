"""`Carried`: a function on its way to a worker, with the values that it takes from modules of the
user. A worker imports these modules as their files are; a script may have set other values since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from types import NoneType
from typing import Any

import numpy as np

Values = dict[tuple[str, str], Any]
"""From module and name to a value."""

_PLAIN = (NoneType, bool, int, float, complex, str, bytes)


@dataclass(frozen=True, eq=False)
class Carried:
    """A function of the seed; it is called with the values that it had where it was handed over."""

    function: Callable[[int], Any]
    values: Values

    def __call__(self, seed: int) -> Any:
        """What the function gives."""
        with _set(self.values):
            return self.function(seed)


@contextmanager
def _set(values: Mapping[tuple[str, str], Any]) -> Iterator[None]:
    """Values in their modules, which have their own again at the end."""
    before: Values = {}
    try:
        for (module, name), value in values.items():
            if module not in sys.modules:
                with suppress(Exception):
                    import_module(module)
            there = sys.modules.get(module)
            if there is not None:
                before[module, name] = getattr(there, name, value)
                setattr(there, name, value)
        yield
    finally:
        for (module, name), value in before.items():
            setattr(sys.modules[module], name, value)


def is_plain(value: Any, depth: int = 10) -> bool:
    """Whether a value is numbers and texts, or tables of them to a depth: others, such as what a
    module keeps for later calls, are left to the module.
    """
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return depth > 0 and all(is_plain(each, depth - 1) for each in value)
    if kind is dict:
        parts = (*value.keys(), *value.values())
        return depth > 0 and all(is_plain(each, depth - 1) for each in parts)
    if isinstance(value, np.ndarray | np.generic):
        return not value.dtype.hasobject
    return kind in _PLAIN
