"""Statements as machine code: every operation, and the condition that fails first."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from didim.jit.lane_code import LaneProgram, lane_code
from didim.jit.machine_code import Program, machine_code
from didim.jit.multiply_add import multiply_adds
from didim.jit.processor import has_multiply_add
from didim.jit.statements import Statement, shown


def called(program, *arrays):
    code = machine_code(program)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(arrays))(code.address)
    return function(*(array.ctypes.data for array in arrays))


OPERATIONS = [
    Statement("x0", "*", "a[0]", "a[1]"),
    Statement("x1", "+", "x0", 0.1),
    Statement("x2", "-", "a[2]", "x1"),
    Statement("x3", "/", 1.0, "x2"),
    Statement("x4", "-", None, "x3"),
    Statement("x5", "sqrt", None, "a[1]"),
    Statement("x6", "pow", "a[0]", "a[1]"),
    Statement("x7", "min", "a[0]", "a[2]"),
    Statement("x8", "max", "a[0]", "a[2]"),
    Statement("x9", "sign", None, "a[2]"),
    Statement("x10", "abs", None, "a[2]"),
    *(
        Statement(f"x{11 + k}", function, None, "a[0]")
        for k, function in enumerate(["sin", "cos", "exp", "log", "tanh"])
    ),
]


def test_every_operation_is_that_of_python():
    count = len(OPERATIONS)
    a, b = np.array([1.7, 2.3, -0.4]), np.zeros(count + 1)
    outputs = [(f"b[{k}]", f"x{k}") for k in range(count)] + [(f"b[{count}]", 0.25)]
    assert called(Program(("a", "b"), OPERATIONS, outputs, [], 0.0), a, b) == -1
    names = {**vars(math), "a": a.tolist(), "sign": lambda x: math.copysign(1.0, x)}
    for statement in OPERATIONS:
        names[statement.name] = eval(statement.expression, names)
    assert b.tolist() == [*(names[f"x{k}"] for k in range(count)), 0.25]


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([1.0, 1.0, 1.0], -1),
        ([1.0, 0.0, 0.0], 1),
        ([-1.0, 1.0, -1.0], 0),
        ([1.0, 1.0, math.nan], 2),
        ([1.0, 0.5, 1.0], 1),
    ],
)
def test_the_first_condition_that_fails_is_returned(values, first):
    """x > margin |y|, with y = -1 and a margin of one half."""
    a = np.array([*values, -1.0])
    conditions = [(f"a[{k}]", "a[3]") for k in range(3)]
    assert called(Program(("a",), [], [], conditions, 0.5), a) == first


def test_numbers_are_written_so_that_they_come_back():
    for number in (0.1, -0.1, 1e-300, 1 / 3, -2.0):
        assert float(eval(shown(number))) == number


ONE = np.array([1.0 + 2.0**-30, 1.0 - 2.0**-30, 1.0])
"""a, b, c with a b = 1 - 2^-60, which rounds to c."""
SUMS = [
    Statement("x0", "*", "a[0]", "a[1]"),
    Statement("x1", "-", "a[2]", "x0"),
    Statement("x2", "*", "a[1]", "a[0]"),
    Statement("x3", "-", "x2", "a[2]"),
    Statement("x4", "*", 1.0 - 2.0**-30, "a[0]"),
    Statement("x5", "+", "x4", -1.0),
    Statement("x6", "*", "a[0]", 1.0 - 2.0**-30),
    Statement("x7", "-", "x6", "a[2]"),
    Statement("x8", "+", "x6", 1.0),
]
"""The product x6 serves two sums."""


@pytest.mark.parametrize("fused", [True, False])
def test_a_product_of_one_sum_is_rounded_with_it(fused):
    b = np.full(5, math.nan)
    outputs = [(f"b[{k}]", f"x{n}") for k, n in enumerate((1, 3, 5, 7, 8))]
    assert called(Program(("a", "b"), SUMS, outputs, [], 0.0, fused=fused), ONE, b) == -1
    tiny = 2.0**-60 if fused and has_multiply_add() else 0.0
    assert b.tolist() == [tiny, -tiny, -tiny, 0.0, 2.0]


def test_a_product_that_is_a_result_is_rounded_alone():
    statements = SUMS[:2]
    assert list(multiply_adds(statements, ["x1"])) == ["x1"]
    assert multiply_adds(statements, ["x1", "x0"]) == {}


def test_of_two_products_the_right_one_is_rounded_with_the_sum():
    statements = [SUMS[0], SUMS[6], Statement("x9", "+", "x0", "x6")]
    assert multiply_adds(statements, ["x9"]) == {"x9": SUMS[6]}


@pytest.mark.parametrize("lanes", [4, 8])
def test_lanes_round_a_product_with_its_sum_too(lanes):
    rng = np.random.default_rng(0)
    T, B = np.tile(ONE[1:, None], 2 * lanes), rng.standard_normal((1, 2 * lanes))
    statements = [Statement("x0", "*", "a[0]", "T[0]"), Statement("x1", "-", "T[1]", "x0")]
    code = lane_code(LaneProgram(("a",), ("T", "B"), statements, [("B[0]", "x1")], lanes))
    kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(code.address)
    assert function(ONE.ctypes.data, T.ctypes.data, B.ctypes.data, 2 * lanes) == 0
    assert set(B[0]) == {2.0**-60 if has_multiply_add() else 0.0}
