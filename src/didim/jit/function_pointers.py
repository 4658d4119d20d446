"""Functions by address: a compiled loop calls code that was compiled apart from it, so that one
loop serves every robot and every control law.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaError, NumbaPendingDeprecationWarning
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

_open: Any = make_array
_fill: Any = populate_array
_tools: Any = cgutils
_types: Any = types


def _caller(result: Any) -> Any:
    """The kernel that calls a function of this Numba result type by its address."""

    @intrinsic
    def call(typing: Any, address: Any, arguments: Any) -> tuple[Any, Callable[..., Any]]:
        del typing

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            del signature
            where, values = given
            passed = [
                _open(kind)(context, builder, value).data
                if isinstance(kind, _types.Array)
                else value
                for kind, value in zip(
                    arguments.types, _tools.unpack_tuple(builder, values), strict=True
                )
            ]
            nothing = result == _types.void
            returned = ir.VoidType() if nothing else context.get_value_type(result)
            function = ir.FunctionType(returned, [value.type for value in passed])
            found = builder.call(builder.inttoptr(where, function.as_pointer()), passed)
            return context.get_dummy_value() if nothing else found

        return result(address, arguments), generate

    return call


call_int64: Callable[[int, tuple[Any, ...]], int] = cast(Any, _caller(types.int64))
"""int64 f(...) at an address, with a tuple of arguments: numbers are handed over as they are,
contiguous arrays as pointers to their first elements.
"""

call_void: Callable[[int, tuple[Any, ...]], None] = cast(Any, _caller(types.void))
"""The same for void f(...)."""


@intrinsic
def _array_at(typing: Any, pointer: Any, size: Any) -> tuple[Any, Callable[..., Any]]:
    del typing

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = _open(signature.return_type)(context, builder)
        stride = context.get_constant(types.intp, 8)
        _fill(array, given[0], given[1:], [stride], stride, None)
        return array._getvalue()

    return _types.float64[::1](pointer, size), generate


array_at: Callable[[Any, int], Any] = cast(Any, _array_at)
"""The array of a number of doubles that begins at a pointer, in the function that is called."""


class CompilationError(Exception):
    """A function that Numba cannot compile; the text says why, in one line."""


class CFunction:
    """A Python function compiled for a C signature; its `address` is valid as long as this object
    lives.
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        try:
            with warnings.catch_warnings():
                # Numba 0.59 warns of errors that are not its own before it raises them
                warnings.simplefilter("ignore", NumbaPendingDeprecationWarning)
                self._compiled: Any = numba.cfunc(signature)(function)
        except (NumbaError, TypeError, AttributeError) as problem:
            lines = str(problem).strip().splitlines()
            raise CompilationError(lines[-1] if lines else type(problem).__name__) from problem

    @property
    def address(self) -> int:
        """Where the compiled function lies in memory."""
        return int(self._compiled.address)
