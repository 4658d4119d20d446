"""Statements as machine code: every operation, and the condition that fails first."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from didim.jit.machine_code import Program, machine_code
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
