"""Trees: structure, simplification, values, derivatives against central differences."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from didim.errors import InputError
from didim.expressions.expression import (
    Name,
    Number,
    Operation,
    derivative,
    evaluate,
    names,
    operation,
    substitute,
)
from didim.expressions.grammar import parse
from didim.expressions.nodes import NUMPY
from support.expressions import random_expression

X, Y = Name("x"), Name("y")


def read(text):
    return parse(text, ["x", "y", "z", "d", "vs"], "test")


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("0*x", "0"),
        ("x*0", "0"),
        ("1*x", "x"),
        ("x*1", "x"),
        ("x*(-1)", "-x"),
        ("x + 0", "x"),
        ("0 + x", "x"),
        ("x - 0", "x"),
        ("0 - x", "-x"),
        ("x - x", "0"),
        ("--x", "x"),
        ("x - -y", "x + y"),
        ("x + -y", "x - y"),
        ("-x*-y", "x*y"),
        ("-x/-y", "x/y"),
        ("0/x", "0"),
        ("x/1", "x"),
        ("x^1", "x"),
        ("x^0", "1"),
        ("1^x", "1"),
        ("abs(-x)", "abs(x)"),
        ("abs(abs(x))", "abs(x)"),
        ("2*3 + sqrt(4)", "8"),
        ("max(1, 2, x, 3 - 1)", "max(max(2, x), 2)"),
        ("cos(0)*x", "x"),
    ],
)
def test_numbers_are_folded_and_what_has_no_effect_is_dropped(text, simple):
    assert read(text) == read(simple)


def test_structure_decides_equality_and_hash():
    a, b = read("sin(x)*y + 2^x"), read("sin( x )*y+2.0**x")
    assert a == b
    assert a is not b
    assert hash(a) == hash(b)
    assert a != read("sin(x)*y + 2^y")
    assert a != read("sin(x)*y - 2^x")
    assert a != X
    assert {a: 1}[b] == 1


def test_a_sum_of_a_thousand_terms_is_no_recursion():
    terms = "+".join(["x"] * 1000)
    deep, other = read(terms), read(terms)
    assert deep == other
    assert pickle.loads(pickle.dumps(deep)) == copy.deepcopy(deep) == deep
    assert evaluate(deep, {"x": 2.0}) == 2000
    assert derivative(deep, "x") == Number(1000.0)
    assert substitute(deep, {"x": 1}) == Number(1000.0)
    assert names(deep) == {"x"}
    assert "Operation('+'" in repr(deep)


def test_shared_parts_are_visited_once():
    """A tree of 2^60 leaves of which 60 are distinct."""
    shared = X
    for _ in range(60):
        shared = Operation("+", (shared, shared))
    assert evaluate(shared, {"x": 1.0}) == 2.0**60
    assert evaluate(derivative(shared, "x"), {}) == 2.0**60
    assert pickle.loads(pickle.dumps(shared)) == shared


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_numbers_are_finite(value):
    with pytest.raises(InputError):
        Number(value)


def test_operations_are_those_that_exist():
    for operator, arguments in [("sin", (X, Y)), ("+", (X,)), ("atan", (X,)), ("", ())]:
        with pytest.raises(InputError):
            Operation(operator, arguments)
        with pytest.raises(InputError):
            operation(operator, *arguments)


def test_substitution_of_numbers_and_expressions():
    expression = read("x*y + sin(x)")
    assert substitute(expression, {"x": 2, "y": read("z + 1")}) == read("2*(z + 1) + sin(2)")
    assert substitute(expression, {"x": 0.0}) == Number(0.0)
    assert substitute(expression, {"q": 1.0}) == expression
    assert substitute(expression, {"x": Y, "y": X}) == read("y*x + sin(y)")


def test_values_have_the_shape_of_what_is_given():
    x, y = np.arange(1.0, 4.0)[:, None], np.arange(1.0, 3.0)
    assert evaluate(read("x*y"), {"x": x, "y": y}).tolist() == (x * y).tolist()
    assert evaluate(read("2"), {}).shape == ()


OPERANDS = {"x": np.array([1.3, -0.7, 0.2, -2.1]), "y": np.array([0.4, 2.0, 3.0, -1.0])}


@pytest.mark.parametrize("operator", NUMPY)
def test_every_operator_has_its_derivative(operator):
    """At points where it is defined, with respect to every argument."""
    ways = ["x", "y"][: 1 + (operator in ("+", "-", "*", "/", "pow", "min", "max"))]
    expression = operation(operator, *map(Name, ways))
    values = dict(OPERANDS)
    if operator in ("log", "sqrt", "pow"):
        values["x"] = np.abs(values["x"])
    for way in ways:
        assert_derivative(expression, way, values)


def assert_derivative(expression, name, values):
    step = 1e-6
    up, down = ({**values, name: values[name] + s * step} for s in (1, -1))
    expected = (evaluate(expression, up) - evaluate(expression, down)) / (2 * step)
    found = evaluate(derivative(expression, name), values)
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, 1e-7, 1e-8)


@pytest.mark.parametrize(
    "text",
    [
        "sin(x*y)/(2 + cos(x))",
        "exp(-abs(x/vs)^d)*tanh(x/vs)",
        "(x^2 - 3*x + 1)^3*sign(x)",
        "x^(-2) + x^(-1)*y",
        "log(x^2 + 1)^2",
        "sqrt(abs(x))*sign(x)",
        "min(x, y, x*y) + max(x, 2*y, 0)",
        "2^x*abs(y)^x",
        "x^d*y",
        "table(x, [-2, -1, 0, 0.5, 3], [1, 2, 2, -4, 0])",
        "-(x - y)/(x*x + 1)/(y*y + 1)",
    ],
)
@pytest.mark.parametrize("name", ["x", "y", "vs"])
def test_derivatives_of_expressions(text, name):
    """Bases may be negative where the exponent is a whole number, though a parameter."""
    values = {**OPERANDS, "vs": np.full(4, 0.6), "d": np.full(4, 2.0)}
    assert_derivative(read(text), name, values)


@pytest.mark.parametrize("d", [2.0, 1.0, 0.5])
@pytest.mark.parametrize("text", ["abs(x/vs)^d", "exp(-abs(x/vs)^d)", "(x/vs)^d"])
def test_powers_have_finite_derivatives_at_zero(text, d):
    at_zero = {"x": 0.0, "vs": 0.1, "d": d}
    for name in at_zero:
        exact = derivative(read(text), name)
        assert np.isfinite(evaluate(exact, at_zero))
        assert np.isfinite(evaluate(substitute(exact, {"d": d}), at_zero))
    if text.startswith("abs"):
        assert evaluate(derivative(read(text), "x"), at_zero) == 0
        assert evaluate(derivative(read(text), "d"), at_zero) == 0
    small = {"x": np.array([1e-9, 0.3]), "vs": np.full(2, 0.1), "d": np.full(2, d)}
    by_d = evaluate(derivative(read("abs(x/vs)^d"), "d"), small)
    np.testing.assert_allclose(by_d, (small["x"] / 0.1) ** d * np.log(small["x"] / 0.1), 1e-13)


def test_roots_have_finite_derivatives_at_zero():
    for text in ("sqrt(abs(x))*sign(x)", "sqrt(x^2)", "x/sqrt(abs(x) + 0.1)"):
        assert np.isfinite(evaluate(derivative(read(text), "x"), {"x": 0.0}))


def test_kinks_take_the_mean_of_both_sides():
    assert evaluate(derivative(read("abs(x)"), "x"), {"x": 0.0}) == 0
    assert evaluate(derivative(read("max(x, 3*x)"), "x"), {"x": 0.0}) == 2
    assert evaluate(derivative(read("min(x, 3*x)"), "x"), {"x": np.array([-1.0, 1])}).tolist() == [
        3,
        1,
    ]
    assert derivative(read("sign(x)*y"), "x") == Number(0.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_simplification_keeps_the_value(seed):
    """substitute rebuilds every operation; the values stay those of the tree as it was written."""
    rng = np.random.default_rng(seed)
    raw = random_expression(rng, ["x", "y"], 5)
    values = {"x": rng.normal(), "y": rng.normal()}
    before = evaluate(raw, values)
    after = evaluate(substitute(raw, values), {})
    if np.isfinite(before) and abs(before) < 1e100:
        np.testing.assert_allclose(after, before, 1e-9, 1e-12)
