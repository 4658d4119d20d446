"""Entries are handed what Python hands them: numbers, arrays, records of both, and nothing."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

from didim.jit.called import CalledWithWords
from didim.jit.compiler.kernels import entry_code
from didim.jit.processor import LoadedCode
from didim.jit.types import boolean, float64, int64, none, record_type, uint8, void


class Table(NamedTuple):
    """A record that an entry is handed."""

    scale: float
    rows: Any
    count: int


class Called:
    """A function compiled for a signature, and the code that it runs."""

    def __init__(self, function: Any, signature: Any) -> None:
        self._code = LoadedCode(entry_code(function, signature, "test")[0], "test")
        self._call = CalledWithWords(self._code.address, signature, function)

    def __call__(self, *arguments: Any) -> Any:
        return self._call(arguments)


def _total(x, nothing, table, flag, marks):
    total = x if flag else -x
    for i in range(table.rows.shape[0]):
        for k in range(table.rows.shape[1]):
            total += table.scale * table.rows[i, k]
    for i in range(marks.size):
        total += marks[i]
    return total + table.count


_table = record_type(Table, float64, float64[:, ::1], int64, lasting=True)


@pytest.fixture(scope="module")
def total() -> Called:
    return Called(_total, float64(float64, none, _table, boolean, uint8[::1]))


def test_arguments_of_all_sorts_arrive(total):
    rows, marks = np.arange(6.0).reshape(2, 3), np.array([200, 100], dtype=np.uint8)
    assert total(0.25, None, Table(2.0, rows, -7), True, marks) == 0.25 + 30 + 300 - 7
    assert total(1, None, Table(2, rows, np.int64(1)), False, marks[:0]) == -1 + 30 + 1


def test_arrays_that_are_empty_or_read_only_arrive(total):
    rows = np.ones((2, 3))
    rows.flags.writeable = False
    marks = np.zeros(0, dtype=np.uint8)
    assert total(0.0, None, Table(2.0, rows, 0), True, marks) == 12.0
    assert total(0.0, None, Table(2.0, np.zeros((0, 3)), 0), True, marks) == 0.0


def test_a_record_that_lasts_shares_its_arrays_and_another_takes_its_place(total):
    rows, marks = np.ones((2, 3)), np.zeros(0, dtype=np.uint8)
    table = Table(1.0, rows, 0)
    assert total(0.0, None, table, True, marks) == 6.0
    rows[0, 0] = 10.0
    assert total(0.0, None, table, True, marks) == 15.0
    assert total(0.0, None, table._replace(count=1), True, marks) == 16.0
    assert total(0.0, None, table, True, marks) == 15.0


def test_threads_hand_over_their_own_records(total):
    marks, found = np.zeros(0, dtype=np.uint8), dict[int, set[float]]()

    def run(k: int) -> None:
        table = Table(1.0, np.full((2, 3), float(k)), 0)
        found[k] = {total(0.0, None, table, True, marks) for _ in range(300)}

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: {6.0 * k} for k in range(4)}


@pytest.mark.parametrize(
    "rows",
    [
        np.ones(3),
        np.ones((2, 3), dtype=np.float32),
        np.ones((3, 2)).T,
        np.ones((2, 6))[:, ::2],
        [[1.0]],
    ],
)
def test_an_array_of_another_type_is_refused_by_name(total, rows):
    with pytest.raises(TypeError, match="rows must be a contiguous array of float64 with 2"):
        total(0.0, None, Table(1.0, rows, 0), True, np.zeros(0, dtype=np.uint8))


def test_what_is_no_argument_is_refused(total):
    marks, table = np.zeros(0, dtype=np.uint8), Table(1.0, np.ones((1, 1)), 0)
    with pytest.raises(TypeError, match="nothing must be None"):
        total(0.0, 1, table, True, marks)
    with pytest.raises(ValueError, match="shorter"):
        total(0.0, None, table, True)


def _writes(x, out):
    out[0] = x


def _larger(x, least):
    return x > least


def test_results_are_numbers_truths_or_nothing():
    out = np.zeros(1)
    assert Called(_writes, void(float64, float64[::1]))(3.5, out) is None
    assert out[0] == 3.5
    assert Called(_larger, boolean(int64, int64))(-3, -4) == 1


def test_arrays_of_kernels_are_contiguous():
    for axes in (slice(None), (slice(None, None, 1), slice(None))):
        with pytest.raises(TypeError, match="contiguous"):
            float64[axes]


def test_a_record_of_another_class_or_none_is_refused(total):
    """Also where it comes first: its words would be those of the other arguments."""

    class Other(NamedTuple):
        scale: float
        rows: Any
        count: int

    rows, marks = np.ones((2, 3)), np.zeros(0, dtype=np.uint8)
    fresh = Called(_total, float64(float64, none, _table, boolean, uint8[::1]))
    for call in (fresh, total):
        for wrong in (None, Other(1.0, rows, 0), (1.0, rows, 0)):
            with pytest.raises(TypeError, match="table must be a Table"):
                call(0.0, None, wrong, True, marks)
    assert fresh(0.0, None, Table(1.0, rows, 0), True, marks) == 6.0


def test_records_have_no_small_numbers():
    """They have less than a word in Numba's memory."""
    for small in (boolean, uint8):
        with pytest.raises(TypeError, match="Table must have int64"):
            record_type(Table, float64, float64[:, ::1], small)


def test_code_without_the_function_is_an_error():
    code = entry_code(_nothing, void(), "one")[0]
    with pytest.raises(RuntimeError, match="no function other"):
        LoadedCode(code, "other")


def _nothing():
    pass
