"""A record handed over by its address is the record itself: its arrays are shared, its numbers are
those that were written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from didim.jit.struct_pointers import StructMemory, struct_reader
from didim.jit.types import float64, int64, record_type


class Inner(NamedTuple):
    """Arrays of several shapes."""

    a: Any
    b: Any


class Outer(NamedTuple):
    """A record in a record."""

    inner: Any
    k: int
    x: float


_type = record_type(Outer, record_type(Inner, float64[::1], int64[:, ::1]), int64, float64)
_read = struct_reader(_type)


@numba.njit(_nrt=False)
def _inside(address, factor):
    record = _read(address)
    for i in range(record.inner.a.size):
        record.inner.a[i] *= factor * record.k
    return record.inner.b[1, 2] + record.x + record.inner.b.shape[0]


class Part(NamedTuple):
    """Some fields, in another order."""

    x: float
    inner: Any


_read_part = struct_reader(_type, record_type(Part, float64, _type.kinds[0]))


@numba.njit(_nrt=False)
def _of_part(address):
    part = _read_part(address)
    return part.x + part.inner.a[1] + part.inner.b[3, 1]


def _record() -> Outer:
    return Outer(Inner(np.arange(3.0), np.arange(12).reshape(4, 3)), 5, 0.25)


def test_a_record_at_its_address_is_the_record_itself():
    memory = StructMemory(_type, _record())
    assert _inside(memory.address, 2.0) == 5 + 0.25 + 4
    assert memory.record.inner.a.tolist() == [0.0, 10.0, 20.0]


def test_a_part_has_its_fields_by_name():
    assert _of_part(StructMemory(_type, _record()).address) == 0.25 + 1.0 + 10


def test_fields_are_replaced_where_they_lie():
    memory = StructMemory(_type, _record())
    before = memory.address
    memory.replace(x=3, inner=Inner(np.ones(2), np.full((5, 4), 7)))
    assert memory.address == before
    assert _inside(memory.address, 1.0) == 7 + 3.0 + 5
    assert memory.record.inner.a.tolist() == [5.0, 5.0]


def test_what_is_there_already_stays_beside_what_is_replaced():
    memory = StructMemory(_type, _record())
    inner = memory.record.inner
    memory.replace(inner=inner, x=3)
    memory.replace(inner=inner, x=0.25)
    assert _inside(memory.address, 2.0) == 5 + 0.25 + 4
    memory.replace(inner=Inner(inner.a, np.full((5, 4), 7)))
    assert _inside(memory.address, 1.0) == 7 + 0.25 + 5


@pytest.mark.parametrize(
    "a", [np.arange(3), np.zeros((3, 1)), np.arange(6.0)[::2], [0.0, 1.0, 2.0]]
)
def test_an_array_of_another_type_is_refused(a):
    with pytest.raises(TypeError, match="a must be a contiguous array"):
        StructMemory(_type, _record()._replace(inner=Inner(a, np.zeros((4, 3), np.int64))))
