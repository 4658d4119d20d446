"""Pointers to records: a compiled function takes a record of arrays by its address.

Numba hands a record to a function that is not inlined field by field, an array as seven values and
more: for the hundred arrays of a simulation that is as much work as the inertia matrix.
`to_struct_pointer` keeps the record as a C struct in the caller's frame and gives its address; the
kernel that `struct_reader` makes reads from there what is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

_open: Any = make_array
_tools: Any = cgutils


def _struct(context: Any, record: Any) -> tuple[Any, ir.LiteralStructType]:
    """How Numba takes a record apart, and the struct that holds the members."""
    packer = context.get_arg_packer([record])
    return packer, ir.LiteralStructType(packer.argument_types)


@intrinsic
def _to_struct_pointer(typing: Any, record: Any) -> tuple[Any, Callable[..., Any]]:
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        packer, layout = _struct(context, record)
        struct = _tools.alloca_once(builder, layout)
        for k, member in enumerate(packer.as_arguments(builder, arguments)):
            builder.store(member, _tools.gep_inbounds(builder, struct, 0, k))
        return builder.ptrtoint(struct, ir.IntType(64))

    return types.int64(record), generate


@intrinsic
def _write_struct(typing: Any, record: Any, words: Any) -> tuple[Any, Callable[..., Any]]:
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        packer, layout = _struct(context, record)
        array = _open(words)(context, builder, arguments[1])
        struct = builder.bitcast(array.data, layout.as_pointer())
        for k, member in enumerate(packer.as_arguments(builder, arguments[:1])):
            builder.store(member, _tools.gep_inbounds(builder, struct, 0, k))
        return context.get_constant(types.int64, len(layout.elements))

    return types.int64(record, words), generate


write_struct: Callable[[Any, Any], int] = cast(Any, _write_struct)
"""Write a record into an array of int64, whose address `struct_reader` then reads from as long as
the array and the record's own arrays live; returns how many words it takes.
"""

to_struct_pointer: Callable[[Any], int] = cast(Any, _to_struct_pointer)
"""Address of a copy of the record, valid until the function that calls this returns. Arrays are
shared with the copy, numbers are those at the time.
"""


def struct_reader(record: Any) -> Callable[[int], Any]:
    """The kernel that reads a record of this Numba type from an address that `to_struct_pointer`
    gave, or that of the array that `write_struct` filled.
    """

    @intrinsic
    def read(typing: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
        del typing

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del signature
            packer, layout = _struct(context, record)
            struct = builder.inttoptr(arguments[0], layout.as_pointer())
            members = []
            for k in range(len(layout.elements)):
                member = builder.load(_tools.gep_inbounds(builder, struct, 0, k))
                members.append(member)
            return packer.from_arguments(builder, members)[0]

        return record(address), generate

    return cast(Callable[[int], Any], read)
