"""`Deferred`: what kernels name and only their compiler knows.

Inner kernels and intrinsics are objects of Numba's. A module of kernels that is imported to run
what was compiled before names them without importing Numba: each is made when a kernel that names
it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any

COMPILER = "didim.jit.compiler"
"""The package that imports Numba."""


class Deferred:
    """What `make` makes, once. Numba finds its type and its options here."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def made(self) -> Any:
        """The object of Numba's."""
        return self._make()

    @cached_property
    def _numba_type_(self) -> Any:
        return import_module(f"{COMPILER}.types").type_of(self.made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.made, name)

    def __call__(self, *_: Any) -> Any:
        """Refuse a call from Python."""
        raise TypeError(f"{getattr(self, '__name__', 'This')} is called by kernels only.")


class InnerKernel(Deferred):
    """A kernel that only other kernels call."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self.py_func = function
        super().__init__(lambda: import_module(f"{COMPILER}.kernels").inner(function, **options))


def intrinsic(module: str, name: str, *arguments: Any) -> Any:
    """The intrinsic of this name in a module of the compiler; with arguments, what it makes of
    them.
    """

    def make() -> Any:
        found = getattr(import_module(f"{COMPILER}.{module}"), name)
        return found(*arguments) if arguments else found

    return Deferred(make)
