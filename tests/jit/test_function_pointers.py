"""Compiled code calls functions by their address, with numbers and arrays."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from didim.jit.function_pointers import (
    CFunction,
    CompilationError,
    array_at,
    call_int64,
    call_void,
)
from didim.jit.types import double_pointer, float64, int64, void

_arguments = (float64, int64, double_pointer, double_pointer)


def _counts(x, k, a, b):
    b[0] = x * a[k]
    return k + 1


def _scales(x, k, a, b):
    b[1] = x * a[k]


@numba.njit(_nrt=False)
def _called(counts, scales, table, out):
    arrays = (table[1], out)
    count = call_int64(counts, (2.5, table.shape[0], *arrays))
    call_void(scales, (2.0, 0, *arrays))
    return count


def test_numbers_are_handed_over_as_they_are_and_arrays_by_their_first_element():
    counts, scales = CFunction(_counts, int64(*_arguments)), CFunction(_scales, void(*_arguments))
    table, out = np.arange(8.0).reshape(2, 4), np.zeros(2)
    assert _called(counts.address, scales.address, table, out) == 3
    assert out.tolist() == [2.5 * table[1, 2], 2.0 * table[1, 0]]


def _sums(x, k, a, b):
    array, out = array_at(a, k), array_at(b, 2)
    out[1] = array[:k].sum() + array.size
    return array.shape[0]


def test_a_pointer_is_an_array_again():
    sums = CFunction(_sums, int64(*_arguments))
    table, out = np.arange(8.0).reshape(2, 4), np.ones(2)
    assert _called(sums.address, sums.address, table, out) == 2
    assert out.tolist() == [1.0, 0.0]  # of the second call, with no element


def _prints(x, k, a, b):
    b[0] = str(x + a[k])


@pytest.mark.slow
@pytest.mark.parametrize("function", [_prints, lambda x: x, 3])
def test_what_cannot_be_compiled_is_one_error_of_one_line(function):
    with pytest.raises(CompilationError) as failed:
        CFunction(function, void(*_arguments))
    assert len(str(failed.value).splitlines()) == 1
