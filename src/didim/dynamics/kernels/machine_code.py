"""Calling a robot's own machine code by its address, so that one compiled loop serves every
robot.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@intrinsic
def call_machine_code(
    typing: Any,
    address: Any,
    q: Any,
    cos: Any,
    sin: Any,
    dq: Any,
    link: Any,
    armature: Any,
    M: Any,
    bias: Any,
) -> tuple[Any, Any]:
    """The code of `dynamics.codegen.machine_code` at `address`; the arrays are handed over as
    pointers to doubles.
    """
    del typing
    kinds = (q, cos, sin, dq, link, armature, M, bias)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        where, *arrays = arguments
        opened: Any = make_array
        handed = [
            opened(kind)(context, builder, array).data
            for kind, array in zip(kinds, arrays, strict=True)
        ]
        function = ir.FunctionType(ir.IntType(64), [ir.DoubleType().as_pointer()] * len(kinds))
        return builder.call(builder.inttoptr(where, function.as_pointer()), handed)

    return types.int64(address, *kinds), generate
