"""What kernels name that is not Python: calls by address, arrays and records at an address,
products that are rounded once with their sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from didim.jit.compiler.types import numba_type
from didim.jit.processor import has_multiply_add
from didim.jit.types import Record

_open: Any = make_array
_fill: Any = populate_array
_tools: Any = cgutils
_types: Any = types
_Made = tuple[Any, Callable[..., Any]]


def _caller(result: Any) -> Any:
    """The kernel that calls a function of this Numba result type by its address."""

    @intrinsic
    def call(typing: Any, address: Any, arguments: Any) -> _Made:
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


call_int64, call_void = _caller(_types.int64), _caller(_types.void)


@intrinsic
def array_at(typing: Any, pointer: Any, size: Any) -> _Made:
    """The array of `size` doubles that begins at a pointer."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = _open(signature.return_type)(context, builder)
        stride = context.get_constant(types.intp, 8)
        _fill(array, given[0], given[1:], [stride], stride, None)
        return array._getvalue()

    return _types.float64[::1](pointer, size), generate


def struct_reader(record: Record, part: Record) -> Any:
    """The kernel that reads the fields of `part` from the address of a record."""
    whole, wanted = numba_type(record), numba_type(part)

    @intrinsic
    def read(typing: Any, address: Any) -> _Made:
        del typing

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del signature
            layout = ir.LiteralStructType(context.get_arg_packer([whole]).argument_types)
            struct = builder.inttoptr(arguments[0], layout.as_pointer())
            members, first = {}, 0
            for name, kind in zip(whole.fields, whole.types, strict=True):
                count = len(context.get_arg_packer([kind]).argument_types)
                members[name] = range(first, first + count)
                first += count
            loaded = [
                builder.load(_tools.gep_inbounds(builder, struct, 0, k))
                for name in wanted.fields
                for k in members[name]
            ]
            return context.get_arg_packer([wanted]).from_arguments(builder, loaded)[0]

        return wanted(address), generate

    return read


@intrinsic
def multiply_add(typing: Any, a: Any, b: Any, c: Any) -> _Made:
    """a b + c, with one rounding where the processor does it as one operation."""
    del typing, a, b, c

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        del context, signature
        a, b, c = given
        return builder.fma(a, b, c) if has_multiply_add() else builder.fadd(builder.fmul(a, b), c)

    real = _types.float64
    return real(real, real, real), generate
