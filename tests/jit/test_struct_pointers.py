"""A record handed over by its address is the record itself: its arrays are shared, its numbers are
those at the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from didim.jit.compiled import record_type
from didim.jit.struct_pointers import struct_reader, to_struct_pointer


class Inner(NamedTuple):
    """Arrays of several shapes."""

    a: Any
    b: Any


class Outer(NamedTuple):
    """A record in a record."""

    inner: Any
    k: int
    x: float


_type = record_type(
    Outer, record_type(Inner, numba.float64[::1], numba.int64[:, ::1]), numba.int64, numba.float64
)
_read = struct_reader(_type)


@numba.njit(_nrt=False)
def _inside(address, factor):
    record = _read(address)
    for i in range(record.inner.a.size):
        record.inner.a[i] *= factor * record.k
    return record.inner.b[1, 2] + record.x + record.inner.b.shape[0]


@numba.njit(_nrt=False)
def _outside(record, times):
    address, total = to_struct_pointer(record), 0.0
    for _ in range(times):
        total += _inside(address, 2.0)
    return total


def test_a_record_at_its_address_is_the_record_itself():
    record = Outer(Inner(np.arange(3.0), np.arange(12).reshape(4, 3)), 5, 0.25)
    assert _outside(record, 2) == 2 * (5 + 0.25 + 4)
    assert record.inner.a.tolist() == [0.0, 100.0, 200.0]
