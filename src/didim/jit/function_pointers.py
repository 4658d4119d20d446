"""Functions by address: a compiled loop calls code that was compiled apart from it, so that one
loop serves every robot and every control law.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from didim.jit.deferred import COMPILER, intrinsic
from didim.jit.types import Signature

call_int64: Callable[[int, tuple[Any, ...]], int] = intrinsic("intrinsics", "call_int64")
"""int64 f(...) at an address, with a tuple of arguments: numbers are handed over as they are,
contiguous arrays as pointers to their first elements.
"""

call_void: Callable[[int, tuple[Any, ...]], None] = intrinsic("intrinsics", "call_void")
"""The same for void f(...)."""

array_at: Callable[[Any, int], Any] = intrinsic("intrinsics", "array_at")
"""The array of a number of doubles that begins at a pointer, in the function that is called."""


class CompilationError(Exception):
    """A function that Numba cannot compile; the text says why, in one line."""


class CFunction:
    """A Python function compiled for a C signature; its `address` is valid as long as this object
    lives.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self._compiled = import_module(f"{COMPILER}.kernels").c_function(function, signature)

    @property
    def address(self) -> int:
        """Where the compiled function lies in memory."""
        return int(self._compiled.address)
