"""Calls from Python: arguments become words of 64 bits, as `types` lays them out."""

from __future__ import annotations

import ctypes
import inspect
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from didim.jit.types import Kind, Record, Signature

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)  # calling it releases the GIL


_NOTHING_YET = object()
"""No argument that a caller can hand over."""


class CalledWithWords:
    """The function int64 f(int64 *words) at an address, for arguments of a signature: it reads
    them from the words and writes its result behind them.
    """

    def __init__(self, address: int, signature: Signature, function: Callable[..., Any]) -> None:
        self._call, self._name = _Function(address), function.__name__
        self._result = signature.result
        kinds = [_Last(kind) if _lasts(kind) else kind for kind in signature.arguments]
        self._kinds = list(zip(kinds, inspect.signature(function).parameters, strict=True))

    def __call__(self, arguments: Sequence[Any]) -> Any:
        """Its result."""
        given = list[int]()
        for (kind, name), value in zip(self._kinds, arguments, strict=True):
            given += kind.words(value, name)
        words = array("q", given)
        words.append(0)
        if self._call(words.buffer_info()[0]):
            raise RuntimeError(f"{self._name} failed.")
        return self._result.value(words[-1])


class _Last:
    """The type of an argument that is the same record at call after call: its words are kept, since
    it cannot be changed.
    """

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._last: tuple[Any, list[int]] = (_NOTHING_YET, [])

    def words(self, value: Any, name: str) -> list[int]:
        last = self._last  # threads may replace it
        if last[0] is not value:
            self._last = last = value, self._kind.words(value, name)
        return last[1]


def _lasts(kind: Kind) -> bool:
    return isinstance(kind, Record) and kind.lasting
