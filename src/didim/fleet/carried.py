"""`Carried`: a function on its way to a worker, with the values that it takes from modules of the
user. A worker imports these modules as their files are; a script may have set other values since.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType, NoneType
from typing import Any

import numpy as np

Values = dict[tuple[str, str], Any]
"""From module and name to a value."""

_lock = threading.RLock()


@dataclass(frozen=True, eq=False)
class Carried:
    """A function of the seed; it is called with the values that it had where it was handed over."""

    function: Callable[[int], Any]
    values: Values

    def __call__(self, seed: int) -> Any:
        """What the function gives."""
        if not self.values:
            return self.function(seed)
        with _lock, _set(self.values):  # modules are those of all threads
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


def plain_values(module: ModuleType) -> Values:
    """The numbers and texts of a module, and tables of them, without names that begin with __."""
    return {
        (module.__name__, name): value
        for name, value in sorted(vars(module).items())
        if not name.startswith("__") and _is_plain(value)
    }


def _is_plain(value: Any, depth: int = 10) -> bool:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return depth > 0 and all(_is_plain(each, depth - 1) for each in value)
    if kind is dict:
        parts = (*value.keys(), *value.values())
        return depth > 0 and all(_is_plain(each, depth - 1) for each in parts)
    if isinstance(value, np.ndarray | np.generic):
        return not value.dtype.hasobject
    return kind in (NoneType, bool, int, float, complex, str, bytes)


def is_value(value: Any) -> bool:
    """Whether it is no function, class or module, which a worker imports."""
    return not isinstance(value, ModuleType) and not hasattr(value, "__qualname__")
