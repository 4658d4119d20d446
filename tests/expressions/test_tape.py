"""Straight-line code by the kernel and by machine code, against NumPy."""

from __future__ import annotations

import ctypes
import os
import pickle

import numpy as np
import pytest

from didim.errors import InputError
from didim.expressions import tape_code as module
from didim.expressions.expression import Name, Number, derivative, evaluate, operation
from didim.expressions.grammar import parse
from didim.expressions.kernels.tape import MULTIPLY, POWER
from didim.expressions.nodes import BINARY, NUMPY
from didim.expressions.tape import OPERATORS, tape
from didim.expressions.tape_code import computed, tape_code
from didim.jit.machine_code import GENERIC
from support.expressions import random_expression

STRIBECK = "(Fc + (Fs - Fc)*exp(-abs(dq/vs)^d))*sign(dq) + k*sin(3*q)^2"
CONSTANTS = {"Fc": 1.0, "Fs": 1.7, "vs": 0.1, "d": 2.0, "k": 0.3}
UNUSUAL = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.7, 1e-300, 1e300, np.inf, -np.inf, np.nan]


@pytest.fixture(params=["machine code", "kernel"])
def way(request, monkeypatch):
    monkeypatch.setenv(GENERIC, "1" if request.param == "kernel" else "0")
    return request.param


def stribeck():
    value = parse(STRIBECK, ["q", "dq", *CONSTANTS], "test")
    more = [derivative(value, name) for name in ("q", "dq", *CONSTANTS)]
    return tape([value], more, ["q", "dq"], CONSTANTS), [value, *more]


def same(found, expected, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-300)


def test_operators_and_numbers_agree():
    assert list(OPERATORS) == list(NUMPY)
    assert list(OPERATORS.values()) == list(range(len(NUMPY)))


def test_every_operator_on_usual_and_unusual_numbers(way):
    """Infinite and undefined results as NumPy has them, and no exception."""
    expressions = [operation(each, *map(Name, "xy"[: 1 + (each in BINARY)])) for each in NUMPY] + [
        parse(text, ["x", "y"], "test") for text in ("x^2", "x^3", "x^(-1)", "x^4", "1/0.5/x")
    ]
    x, y = (each.ravel() for each in np.meshgrid(UNUSUAL, UNUSUAL))
    found = computed(tape(expressions, [], ["x", "y"], {}), np.stack([x, y], axis=1))
    for k, expression in enumerate(expressions):
        same(found[:, k], np.broadcast_to(evaluate(expression, {"x": x, "y": y}), x.shape))


def test_whole_exponents_are_exact_for_negative_bases(way):
    expression = parse("x^n", ["x", "n"], "test")
    code = tape([expression], [], ["x"], {"n": 3.0})
    x = np.array([[-2.0], [3.0], [-0.5]])
    assert computed(code, x).tolist() == [[-8.0], [27.0], [-0.125]]
    assert computed(code, x, {"n": -2.0}).tolist() == [[0.25], [1 / 9], [4.0]]
    assert np.isnan(computed(code, x, {"n": 0.5})[0, 0])


def test_values_and_derivatives_of_a_friction_curve(way):
    code, expressions = stribeck()
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(size=(200, 2)), np.zeros((1, 2))])
    for constants in (CONSTANTS, {"Fc": 0.3, "Fs": 0.1, "vs": 0.7, "d": 0.5, "k": -2.0}):
        found = computed(code, samples, constants)
        assert np.isfinite(found).all()
        values = {**constants, "q": samples[:, 0], "dq": samples[:, 1]}
        for k, expression in enumerate(expressions):
            np.testing.assert_allclose(found[:, k], evaluate(expression, values), 1e-13, 1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_machine_code_is_the_kernel(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    expressions = [random_expression(rng, ["x", "y", "a"], 6) for _ in range(20)]
    code = tape(expressions[:10], expressions[10:], ["x", "y"], {"a": 0.7})
    samples = rng.normal(size=(50, 2))
    found = []
    for value in ("0", "1"):
        monkeypatch.setenv(GENERIC, value)
        assert (tape_code(code) is None) == (value == "1")
        found.append(computed(code, samples))
    same(found[0], found[1])
    values = {"x": samples[:, 0], "y": samples[:, 1], "a": 0.7}
    expected = [np.broadcast_to(evaluate(each, values), 50) for each in expressions]
    np.testing.assert_allclose(found[1].T, expected, 1e-9, 1e-12)


def test_layout():
    """inputs | constants | literals | results, and the rows of the values first."""
    code, _ = stribeck()
    assert code.inputs == {"q": 0, "dq": 1}
    assert code.constants == {name: 2 + k for k, name in enumerate(CONSTANTS)}
    assert code.registers[2:7].tolist() == list(CONSTANTS.values())
    literals = code.registers.size - 7 - len(code.code)
    assert code.code[:, 1].tolist() == [*range(7 + literals, code.registers.size)]
    assert (code.code[:, 2:] < code.code[:, 1:2]).all()
    alone = tape([parse(STRIBECK, ["q", "dq", *CONSTANTS], "t")], [], ["q", "dq"], CONSTANTS)
    assert code.first == len(alone.code) == alone.first < len(code.code)
    assert (code.code.dtype, code.outputs.dtype) == (np.int64, np.int64)
    assert code.code.flags.c_contiguous
    assert code.value_count == 1


def test_common_parts_are_computed_once():
    x = parse("sin(a*b) + sin(b*a)^2 + (b*a)^3", ["a", "b"], "t")
    code = tape([x, parse("a*b", ["a", "b"], "t")], [], ["a", "b"], {})
    operators = code.code[:, 0].tolist()
    assert operators.count(OPERATORS["sin"]) == 1
    assert operators.count(POWER) == 0
    assert operators.count(MULTIPLY) == 4


def test_constants_are_not_folded():
    code = tape([parse("k*x + 0*k + k", ["k", "x"], "t")], [], ["x"], {"k": 0.0})
    assert computed(code, [[2.0]]).tolist() == [[0.0]]
    assert computed(code, [[2.0]], {"k": 3.0}).tolist() == [[9.0]]


def test_outputs_that_need_no_row(way):
    code = tape([Name("x"), Number(2.5)], [Name("k"), Name("x")], ["x"], {"k": 4.0})
    assert computed(code, [[1.0], [3.0]]).tolist() == [[1, 2.5, 4, 1], [3, 2.5, 4, 3]]
    assert computed(tape([], [], ["x"], {}), [[1.0]]).shape == (1, 0)


def test_the_first_part_alone():
    code, expressions = stribeck()
    own = tape_code(code)
    for compiled, count in ((own.first, 1), (own.whole, len(expressions))):
        registers = code.registers.copy()
        registers[:2] = 0.4, -0.05
        call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(compiled.address)
        assert call(registers.ctypes.data) == -1
        values = {**CONSTANTS, "q": 0.4, "dq": -0.05}
        expected = [float(evaluate(each, values)) for each in expressions]
        same(registers[code.outputs[:count]], expected[:count], 1e-13)
        if count == 1:
            rest = [k for k in set(code.outputs[1:].tolist()) if k >= code.code[code.first, 1]]
            assert not registers[rest].any()


def test_code_is_made_once_for_the_same_contents():
    code, _ = stribeck()
    again = pickle.loads(pickle.dumps(code))
    assert tape_code(code) is tape_code(again)
    again.registers[again.constants["Fc"]] = 9.0
    assert tape_code(code) is tape_code(again)
    other = tape([parse("2*q", ["q"], "t")], [], ["q"], {})
    another = tape([parse("3*q", ["q"], "t")], [], ["q"], {})
    assert tape_code(other) is not tape_code(another)
    assert computed(another, [[1.0]]) == 3.0


def test_long_tapes_are_left_to_the_kernel(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 5)
    code, _ = stribeck()
    assert tape_code(code) is None
    assert os.environ.get(GENERIC, "") in ("", "0")


def test_names_must_be_known_and_their_own():
    with pytest.raises(InputError, match="unknown name 'k'"):
        tape([Name("k")], [], ["q"], {})
    with pytest.raises(InputError, match="q: each"):
        tape([], [], ["q"], {"q": 1.0})
