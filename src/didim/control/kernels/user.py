"""Calling a user's own compiled law by its address, so that one compiled loop serves every law."""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@intrinsic
def call_user_law(
    typing: Any, address: Any, t: Any, n: Any, reference: Any, seen: Any, memory: Any, v: Any
) -> tuple[Any, Any]:
    """law(t, n, q_r, dq_r, ddq_r, q, dq, memory, v) at `address`; the arrays are handed over as
    pointers to doubles.
    """
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where, time, count, *arrays = arguments
        real, whole = ir.DoubleType(), ir.IntType(64)
        pointer = real.as_pointer()
        opened: Any = make_array
        kinds = signature.args[3:]
        data = [
            opened(kind)(context, builder, value).data
            for kind, value in zip(kinds, arrays, strict=True)
        ]

        def row(base: Any, k: int) -> Any:
            return builder.gep(base, [builder.mul(count, ir.Constant(whole, k))])

        handed = [
            row(data[0], 0),
            row(data[0], 1),
            row(data[0], 2),
            row(data[1], 0),
            row(data[1], 1),
            data[2],
            data[3],
        ]
        kind = ir.FunctionType(ir.VoidType(), [real, whole, *[pointer] * 7])
        builder.call(builder.inttoptr(where, kind.as_pointer()), [time, count, *handed])
        return context.get_dummy_value()

    return types.void(address, t, n, reference, seen, memory, v), generate
