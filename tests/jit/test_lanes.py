"""Lanes of a table against the same arithmetic number by number."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from didim.jit.lanes import FEW_LANES, LANES, load, load_few, padded_lanes, spread, store


@numba.njit
def wide(table, a, out):
    for c in range(0, table.shape[1], LANES):
        x, y = load(table, 0, c), load(table, 1, c)
        x -= a * y
        x += y * x
        store(out, 0, c, (1.0 - x) * (y + spread(a)))
        store(out, 1, c, x * 0.5 - y)


@numba.njit
def narrow(table, a, out):
    for c in range(0, table.shape[1], FEW_LANES):
        x, y = load_few(table, 0, c), load_few(table, 1, c)
        x -= a * y
        x += y * x
        store(out, 0, c, (1.0 - x) * (y + a))
        store(out, 1, c, x * 0.5 - y)


@pytest.mark.parametrize(("function", "lanes"), [(wide, LANES), (narrow, FEW_LANES)])
def test_lanes_compute_as_numbers_do(function, lanes):
    table, a = np.random.default_rng(0).normal(size=(2, 3 * lanes)), 1.7
    out = np.zeros_like(table)
    function(table, a, out)
    x, y = table
    x = x - a * y
    x = x + y * x
    expected = np.stack([(1.0 - x) * (y + a), x * 0.5 - y])
    np.testing.assert_array_equal(out, expected)


def test_rows_of_a_slice_are_found():
    table = np.arange(4.0 * LANES).reshape(4, LANES)
    out = np.zeros((2, LANES))
    wide(table[1:3], 0.0, out)
    np.testing.assert_array_equal(out[1], 0.5 * (table[1] + table[2] * table[1]) - table[2])


@pytest.mark.parametrize(("count", "width"), [(0, 16), (1, 16), (16, 16), (17, 32)])
def test_tables_are_padded_to_whole_lanes(count, width):
    assert padded_lanes(count, 16) == width
