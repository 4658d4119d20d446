"""What Numba must know of lanes (`jit.lanes`): their types, how they are loaded and stored, and
+ - * among them and with numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, register_model
from numba.np.arrayobj import make_array

from didim.jit.lanes import FEW_LANES, LANES

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
def spread(typing: Any, number: Any) -> tuple[Any, Callable[..., Any]]:
    """A number in all of LANES lanes."""
    del typing, number

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        del context, signature
        return _spread(builder, given[0], LANES)

    return _kinds[0](types.float64), generate


@intrinsic
def store(typing: Any, table: Any, i: Any, c: Any, x: Any) -> tuple[Any, Callable[..., Any]]:
    """Write lanes to row i of a table, from column c on."""
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

load, load_few = map(_loader, _kinds)
