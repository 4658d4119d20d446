"""Texts of expressions: what they mean, and that everything else is one clear error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from didim.errors import MAX_MESSAGE, InputError
from didim.expressions.expression import Name, Number, evaluate
from didim.expressions.grammar import parse
from didim.expressions.text import shown
from didim.expressions.tokens import RESERVED, Tokens

KNOWN = ("q", "dq", "k", "load_2")
VALUES = {"q": 0.7, "dq": -1.3, "k": 2.5, "load_2": 4.0}
WHERE = "robot.toml, effect 'cable', torque"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        (" .5 ", 0.5),
        ("1.", 1.0),
        ("1e-3", 1e-3),
        ("2.5E+2", 250.0),
        ("pi", np.pi),
        ("q\n + dq\t*k", 0.7 - 1.3 * 2.5),
        ("q - dq - k", 0.7 + 1.3 - 2.5),
        ("q/dq/k", 0.7 / -1.3 / 2.5),
        ("q - (dq - k)", 0.7 + 1.3 + 2.5),
        ("-q^2", -(0.7**2)),
        ("(-q)^2", 0.7**2),
        ("2^3^2", 512.0),
        ("2**3**2", 512.0),
        ("2^-q", 2**-0.7),
        ("2^-q^2*k", 2 ** -(0.7**2) * 2.5),
        ("-q*k", -1.75),
        ("q*-k", -1.75),
        ("q - -k", 3.2),
        ("+q", 0.7),
        ("-+-q", 0.7),
        ("load_2", 4.0),
        ("sin(q) + cos(q) + tanh(q)", np.sin(0.7) + np.cos(0.7) + np.tanh(0.7)),
        ("exp(log(k)) + sqrt(load_2)", 4.5),
        ("abs(dq) + sign(dq)", 0.3),
        ("min(q, dq) + max(q, dq, k)", 1.2),
        ("((((q))))", 0.7),
        ("table(q, [0, 1], [0, 10])", 7.0),
        ("table(-q, [-1, +0.5, 1], [3, -1e1, 1])", 3 - 13 * 0.3 / 1.5),
        ("table(q - 9, [0, 1], [2, 10]) + table(9, [0, 1], [2, 10])", 12.0),
    ],
)
def test_meaning(text, value):
    assert evaluate(parse(text, KNOWN, WHERE), VALUES) == pytest.approx(value, rel=1e-14)


def test_a_table_is_that_of_numpy():
    rng = np.random.default_rng(0)
    at, values = np.cumsum(rng.uniform(0.1, 1, 200)) - 50, rng.normal(size=200)
    lists = [str([float(each) for each in column]) for column in (at, values)]
    expression = parse(f"table(q, {lists[0]}, {lists[1]})", ["q"], WHERE)
    q = np.linspace(at[0] - 1, at[-1] + 1, 3001)
    found = evaluate(expression, {"q": q})
    np.testing.assert_allclose(found, np.interp(q, at, values), rtol=0, atol=1e-13)


TOO_MANY_KNOTS = ",".join(map(str, range(201)))
HALF_A_TABLE = f"table(q,[{','.join(map(str, range(200)))}],[{'0,1,' * 99}0,1])"
HOSTILE = {
    "empty": ["", "   ", "\n", "()"],
    "names": ["kk", "Q", "qd", "x" * 1999, "_", "q if k else 1", "q and k", "not q", "None"],
    "attributes": ["q.real", "k.__class__.__mro__", "q.", ".", "1.real"],
    "calls": ["k(q)", "eval(q)", "__import__(q)", "sinn(q)", "pi(1)", "pi()", "sin(q)(q)", "2(q)"],
    "imports": ["__import__('os')", "import os", "lambda x: x", "lambda: q", "yield q"],
    "strings": ["'q'", '"q"', "f'{q}'", "q # k", "`q`", "q\\n"],
    "keywords": ["min(a=1, b=2)", "sin(x=q)", "q = 1", "q := 1", "*q", "sin(*q)", "sin(**q)"],
    "comparisons": ["q < 1", "q > 1", "q == 1", "q != 1", "q <= 1"],
    "indexing": ["q[0]", "[q]", "[1, 2]", "{q}", "table[q]"],
    "parentheses": ["(q", "q)", "((q)", ")(", "sin(q", "sin q", "sin", "table"],
    "operators": ["q+", "q**", "/q", "q//2", "q***2", "q%2", "q@k", "q|k", "q&k", "~q", "q;k"],
    "missing": ["2q", "q k", "0x10", "1_000", "1..2", "q,k", "$q"],
    "arguments": ["sin()", "sin(q,q)", "min(q)", "min()", "max(q,)", "abs(,q)", "sin((q,k))"],
    "tables": [
        "table()",
        "table(q)",
        "table(q, [0, 1])",
        "table(q, 0, 1)",
        "table(q, [0], [1])",
        "table(q, [], [])",
        "table(q, [0, 0], [1, 2])",
        "table(q, [1, 0], [1, 2])",
        "table(q, [0, 1], [1])",
        "table(q, [0, k], [1, 2])",
        "table(q, [0, 1], [1, 2]",
        "table(q, [0, 1, [1, 2])",
        "table(q, [0, 1], [1, 2], 3)",
        "table([0, 1], [1, 2], q)",
        "table(q, [-1e308, 1e308], [0, 1])",
        "table(q, [0, 1e-300], [0, 1e300])",
        f"table(q, [{TOO_MANY_KNOTS}], [{TOO_MANY_KNOTS}])",
        " + ".join([HALF_A_TABLE] * 3),
    ],
    "no finite numbers": [
        "1e999",
        "9" * 400,
        "1/0",
        "0/0",
        "log(0)",
        "log(-1)",
        "sqrt(-2)",
        "exp(1e9)",
        "(-8)^(1/3)",
        "0^-1",
        "1e308*10",
        "q + 1/0",
    ],
    "characters": [
        "q\0",
        "\0",
        "q\u200b",
        "\uff11",
        "\u03c0",
        "q\u00b2",
        "\u0661",
        "\u212a",
        "q\x0b",
    ],
    "nesting": ["(" * 51 + "q" + ")" * 51, "sin(" * 51 + "q" + ")" * 51, "^".join(["q"] * 60)],
    "length": [
        "q" * 2001,
        " " * 2001,
        "q+" * 1000 + "q",
        "(" * 10**6,
        "table(" * 10**5,
        "q+" * 5000 + "table(q, [0, 1], [0, 1])",
        "q" * 10**6,
    ],
    "other types": [3, None, ["q"], b"q", 1.5],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_everything_else_is_one_clear_error(kind):
    for text in HOSTILE[kind]:
        with pytest.raises(InputError) as problem:
            parse(text, KNOWN, WHERE)
        message = str(problem.value)
        assert message.startswith(WHERE)
        assert len(message) < 600 < MAX_MESSAGE
        assert message.isprintable()
        assert message.isascii()
        assert "An expression has numbers" in message or "Known: dq, k, load_2, q." in message


@pytest.mark.parametrize(
    ("text", "character"), [("q + kk", 5), ("q +\n 1/0", 7), ("sin(q.x)", 6), ("(q + (k)", 1)]
)
def test_the_place_is_shown(text, character):
    with pytest.raises(InputError, match=f"at character {character}, "):
        parse(text, KNOWN, WHERE)


def test_the_nearest_name_is_proposed():
    with pytest.raises(InputError, match="Did you mean 'load_2'"):
        parse("2*load2", KNOWN, WHERE)


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_words_of_the_grammar_are_no_names(word):
    with pytest.raises(InputError, match="cannot be a name"):
        parse("q", ["q", word], WHERE)


def test_a_text_that_is_too_long_is_not_read(monkeypatch):
    """Not one token of it."""
    monkeypatch.setattr(Tokens, "_read", None)
    for text in ("q+" * 500_000, "table(" * 200_000):
        with pytest.raises(InputError, match="at most 2000 characters"):
            parse(text, KNOWN, WHERE)


PIECES = [
    "q",
    "k",
    "1",
    "2.5",
    "(",
    ")",
    "[",
    "]",
    ",",
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "sin(",
    "pi",
    "min(",
    "max",
    "table(",
    "=",
    ".",
    "'",
    "abs(",
    "q,[0,1],[",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_text_is_an_expression_or_one_error(pieces):
    """And an expression is read back from its own text."""
    try:
        expression = parse("".join(pieces), KNOWN, WHERE)
    except InputError:
        return
    assert parse(shown(expression), KNOWN, WHERE) == expression


def test_what_is_just_allowed():
    assert parse("(" * 50 + "q" + ")" * 50, KNOWN, WHERE) == Name("q")
    assert parse("-" * 1998 + "q ", KNOWN, WHERE) == Name("q")
    assert parse(HALF_A_TABLE, KNOWN, WHERE) != Number(0.0)
    assert evaluate(parse("q+" * 999 + "q ", KNOWN, WHERE), {"q": 1.0}) == 1000
