"""Records of arrays handed to a compiled function by address.

Numba hands a record to a function that is not inlined field by field, an array as seven words and
more: for the hundred arrays of a simulation that is as much work as the inertia matrix. `lend`
keeps the record in the caller's frame and gives its address; what `borrower` makes reads from there
what is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_tools: Any = cgutils


def _words(context: Any, record: Any) -> tuple[Any, ir.LiteralStructType]:
    """How Numba takes a record apart, and the structure that holds its words."""
    packer = context.get_arg_packer([record])
    return packer, ir.LiteralStructType(packer.argument_types)


@intrinsic
def _lend(typing: Any, record: Any) -> tuple[Any, Callable[..., Any]]:
    """Address of a copy of the record, valid until the function that calls this returns."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        packer, layout = _words(context, record)
        place = _tools.alloca_once(builder, layout)
        for k, word in enumerate(packer.as_arguments(builder, arguments)):
            builder.store(word, _tools.gep_inbounds(builder, place, 0, k))
        return builder.ptrtoint(place, ir.IntType(64))

    return types.int64(record), generate


lend: Callable[[Any], int] = cast(Any, _lend)


def borrower(record: Any) -> Callable[[int], Any]:
    """The kernel that reads a record of this Numba type from the address that `lend` gave."""

    @intrinsic
    def borrow(typing: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
        del typing

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del signature
            packer, layout = _words(context, record)
            place = builder.inttoptr(arguments[0], layout.as_pointer())
            words = []
            for k in range(len(layout.elements)):
                word = builder.load(_tools.gep_inbounds(builder, place, 0, k))
                words.append(word)
            return packer.from_arguments(builder, words)[0]

        return record(address), generate

    return cast(Callable[[int], Any], borrow)
