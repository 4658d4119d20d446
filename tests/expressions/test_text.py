"""Expressions as text: read back, run as Python, compiled as C."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest

from didim.expressions.expression import Name, Number, Operation, derivative, evaluate, substitute
from didim.expressions.grammar import parse
from didim.expressions.nodes import ordered
from didim.expressions.text import c_text, python_text, shown
from didim.expressions.tokens import MAX_CHARACTERS, MAX_CHARACTERS_WITH_TABLE
from support.expressions import compiled_c, random_expression

NAMES = ["x", "y"]
X = Name("x")
TEXTS = [
    "x",
    "-x",
    "-2",
    "2.5e-07",
    "x + y - (x - y)",
    "x - (y + 1)",
    "x*(y + 1)/(2*y)",
    "x/(y/x)",
    "-(x + y)^2",
    "(-x)^2",
    "x^y^2",
    "(x^y)^2",
    "x^(-2)",
    "2^(-x)",
    "(-2)^x",
    "x - (-2)",
    "-(x*y)",
    "k_1*sin(x)^2 + min(x, max(y, 0.1))",
    "table(x - y, [-1, 0, 0.5, 3], [2, 2, -1, 0.3])*y",
    "exp(-abs(x/y)^1.5)*sign(x)*tanh(y)*sqrt(abs(x))*log(abs(y))*cos(x)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_back(text):
    expression = parse(text, [*NAMES, "k_1"], "test")
    assert parse(shown(expression), [*NAMES, "k_1"], "test") == expression


@pytest.mark.parametrize(
    "text",
    ["k*(q - q0)", "Fc + (Fs - Fc)*exp(-abs(dq/vs)^d)", "2*q^2 - 1e-05", "k - q - d", "-q + 3*k"],
)
def test_texts_are_as_a_person_writes_them(text):
    assert shown(parse(text, ["k", "q", "q0", "Fc", "Fs", "dq", "vs", "d"], "test")) == text


def drawn(seed):
    """A random expression and its derivative, without parts such as log(0), which texts cannot
    have.
    """
    expression = random_expression(np.random.default_rng(seed), NAMES, 5)
    return [
        each
        for each in (expression, derivative(expression, "x"))
        if not any(
            isinstance(node, Operation) and all(isinstance(a, Number) for a in node.arguments)
            for node in ordered([each])
        )
    ]


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 50, 10)])
def test_random_expressions_and_derivatives_are_read_back(seeds):
    for expression in (each for seed in seeds for each in drawn(seed)):
        if len(shown(expression)) <= MAX_CHARACTERS:
            assert parse(shown(expression), NAMES, "test") == expression


def test_trees_that_were_not_folded_are_read_back_folded():
    tree = Operation("*", (Operation("neg", (Number(2.0),)), Operation("+", (X, Number(-0.0)))))
    assert shown(tree) == "-2*(x + (-0))"
    assert parse(shown(tree), NAMES, "test") == parse("-2*x", NAMES, "test")


@pytest.mark.parametrize(
    "text",
    [
        "table(x, [0, 1], [0, 10])",
        "y + 2*table(x, [-1.5, 0, 0.1, 0.3, 7], [0.1, 0.7, 0.7, -0.33, 1])",
        "table(table(x, [0, 1], [1, 0.3]) + y, [1, 2, 3], [1, 1.5, 3.7])^2",
        "sin(x) + table(x, [0, 3], [1, 2]) + table(y, [3, 4], [1, 2])",
    ],
)
def test_tables_are_shown_as_tables(text):
    assert shown(parse(text, NAMES, "test")) == text


def test_long_tables_are_read_back():
    rng = np.random.default_rng(0)
    for digits in (2, 6, 17):
        at = [float(f"{x:.{digits + 2}g}") for x in np.cumsum(rng.uniform(0.1, 1, 200)) - 9]
        values = [float(f"{y:.{digits}g}") for y in rng.normal(size=200)]
        expression = parse(f"table(x, {at}, {values})", NAMES, "test")
        assert parse(shown(expression), NAMES, "test") == expression
        assert shown(expression).count("[") == 2
        assert len(shown(expression)) < MAX_CHARACTERS_WITH_TABLE


def python_function(expression):
    names = {name: getattr(math, name) for name in ("sin", "cos", "exp", "log", "sqrt", "tanh")}
    names |= {"pow": math.pow, "fabs": math.fabs, "min": min, "max": max}
    names["_sign"] = lambda x: float((x > 0) - (x < 0))
    source = f"lambda q, y: {python_text(expression, {'x': 'q[2]'})}"
    return eval(source, {"__builtins__": {}, **names})


def test_python():
    for expression in [parse(text, [*NAMES, "k_1"], "t") for text in TEXTS]:
        expression = substitute(expression, {"k_1": 0.7})
        expected = evaluate(expression, {"x": 2.0, "y": 1.7})
        found = python_function(expression)([0, 0, 2.0], 1.7)
        assert found == pytest.approx(float(expected), rel=1e-14)
        assert isinstance(found, float)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc) here")
def test_c(tmp_path):
    expressions = [parse(text, NAMES, "t") for text in TEXTS if "k_1" not in text]
    expressions += [each for seed in range(40) for each in drawn(seed)]
    cases = "\n".join(
        f"    case {k}: return {c_text(each, {'x': 'in[0]', 'y': 'in[0] + in[1]'})};"
        for k, each in enumerate(expressions)
    )
    function = compiled_c(
        f"""#include <math.h>
static double sign(double x) {{ return (double)((x > 0.0) - (x < 0.0)); }}
double value(double which, double x, double y)
{{
    const double in[2] = {{x, y - x}};
    switch ((int)which) {{
{cases}
    }}
    return NAN;
}}
""",
        tmp_path,
        "value",
        3,
    )
    for k, expression in enumerate(expressions):
        expected = float(evaluate(expression, {"x": 0.5, "y": 1.75}))
        if math.isfinite(expected):
            assert function(k, 0.5, 1.75) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_names_are_replaced_as_a_whole():
    expression = parse("x*y^2", NAMES, "t")
    assert python_text(expression, {"x": "q[0]", "y": "a - b"}) == "q[0]*pow((a - b), 2.0)"
    assert c_text(expression, {"x": "state.q"}) == "state.q*pow(y, 2.0)"
    assert c_text(parse("max(abs(x), sign(y), 1e30)", NAMES, "t"), {}) == (
        "fmax(fmax(fabs(x), sign(y)), 1e+30)"
    )
