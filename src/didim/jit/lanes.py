"""Numbers that lie side by side in a table, several at once, in the vector registers of the
processor.

A loop over the columns of a table that is left to the compiler begins with tests whether its arrays
overlap and ends with a remainder one by one: of some ten columns nothing else is left. Lanes are
loaded, added, multiplied and stored as it is written, with + - * among each other and with numbers,
and nothing is fused: the results are those of the same arithmetic number by number. Tables have a
multiple of LANES columns, see `padded_lanes`; those of joints, which are few, one of FEW_LANES.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

LANES, FEW_LANES = 8, 4

_open: Any = make_array
_tools: Any = cgutils
_types: Any = types
_models: Any = models
_lower: Any = lower_builtin
_Template: Any = ConcreteTemplate
_typed: Any = infer_global
_signature: Any = signature


class _Lanes(_types.Type):  # type: ignore[misc]
    """Numba's type of `width` numbers."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"didim.Lanes({width})")


@register_model(_Lanes)
class _LanesModel(_models.PrimitiveModel):  # type: ignore[misc]
    """They are one vector of LLVM's."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.DoubleType(), kind.width))


_kinds = (_Lanes(LANES), _Lanes(FEW_LANES))


def padded_lanes(count: int, lanes: int = LANES) -> int:
    """The next multiple of LANES, or of so many, at least one."""
    return lanes * max(1, -(-count // lanes))


def _place(context: Any, builder: Any, kind: Any, width: int, given: Any) -> Any:
    """Where element (i, c) of a table lies, as a pointer to lanes."""
    table, i, c = given
    array = _open(kind)(context, builder, table)
    stride = _tools.unpack_tuple(builder, array.strides)[0]
    row = _tools.pointer_add(builder, array.data, builder.mul(i, stride))
    first = builder.gep(row, [c])
    return builder.bitcast(first, ir.VectorType(ir.DoubleType(), width).as_pointer())


def _spread(builder: Any, number: Any, width: int) -> Any:
    """A number in all lanes."""
    word, vector = ir.IntType(32), ir.VectorType(ir.DoubleType(), width)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.Constant(word, 0))
    everywhere = ir.Constant(ir.VectorType(word, width), [0] * width)
    return builder.shuffle_vector(one, one, everywhere)


def _loader(kind: Any) -> Any:
    @intrinsic
    def read(typing: Any, table: Any, i: Any, c: Any) -> tuple[Any, Callable[..., Any]]:
        del typing, i, c

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            place = _place(context, builder, signature.args[0], kind.width, given)
            return builder.load(place, align=8)

        return kind(table, types.intp, types.intp), generate

    return read


@intrinsic
def _spread_out(typing: Any, number: Any) -> tuple[Any, Callable[..., Any]]:
    del typing, number

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        del context, signature
        return _spread(builder, given[0], LANES)

    return _kinds[0](types.float64), generate


@intrinsic
def _store(typing: Any, table: Any, i: Any, c: Any, x: Any) -> tuple[Any, Callable[..., Any]]:
    del typing, i, c

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], x.width, given[:3])
        builder.store(given[3], place, align=8)
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp, x), generate


def _make_operator(symbol: Any, method: str) -> None:
    """Teach Numba x symbol y, where either may be a number."""
    pairs = [pair for x in _kinds for pair in ((x, x), (types.float64, x), (x, types.float64))]

    @_typed(symbol)
    class _Cases(_Template):  # type: ignore[misc]
        cases: ClassVar[list[Any]] = [
            _signature(next(k for k in pair if k in _kinds), *pair) for pair in pairs
        ]

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        del context
        both = [
            value if kind in _kinds else _spread(builder, value, signature.return_type.width)
            for kind, value in zip(signature.args, given, strict=True)
        ]
        return getattr(builder, method)(*both)

    for pair in pairs:
        _lower(symbol, *pair)(generate)


for _symbol, _method in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.isub, "fsub"),
    (operator.mul, "fmul"),
):
    _make_operator(_symbol, _method)

Lanes = Any
"""Numbers side by side."""
load: Callable[[Any, int, int], Lanes] = cast(Any, _loader(_kinds[0]))
"""LANES numbers of row i of a table (rows, columns), from column c on."""
load_few: Callable[[Any, int, int], Lanes] = cast(Any, _loader(_kinds[1]))
"""FEW_LANES of them."""
store: Callable[[Any, int, int, Lanes], None] = cast(Any, _store)
"""Write lanes there."""
spread: Callable[[float], Lanes] = cast(Any, _spread_out)
"""A number in all of LANES lanes."""
