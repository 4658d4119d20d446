"""Types of the values in a study file: each says in one sentence what it expects, to people and to
editors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from didim.errors import shortened
from didim.robot.fields import radians_of

Schema = dict[str, Any]


def _type(
    expected: str,
    holds: Callable[[Any], bool],
    schema: Schema,
    convert: Callable[[Any], Any] = lambda x: x,
) -> Any:
    """A type whose values satisfy `holds`; others are refused with what was expected and what was
    found.
    """

    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(f"must be {expected}, found {shortened(value)}")
        return convert(value)

    return Annotated[Any, PlainValidator(check), WithJsonSchema(schema)]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_number, value))


def _matrix(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(map(_numbers, value))
        and len({len(row) for row in value}) == 1
    )


def _angle(value: Any) -> bool:
    return _number(radians_of(value))


def _column(value: Any) -> bool:
    return (isinstance(value, str) and bool(value)) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _limit(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


_NUMBER: Schema = {"type": "number"}
_NUMBERS: Schema = {"type": "array", "items": _NUMBER, "minItems": 1}
_MATRIX: Schema = {"type": "array", "items": _NUMBERS, "minItems": 1}
_TEXT: Schema = {"type": "string", "minLength": 1}
_PER_JOINT: Schema = {"anyOf": [_NUMBER, _NUMBERS]}
_ANGLE: Schema = {"anyOf": [_NUMBER, {"type": "string", "pattern": "pi|deg"}]}
_COLUMN: Schema = {"anyOf": [_TEXT, {"type": "integer", "minimum": 1}]}

Text = _type("a text", _text, _TEXT)
Number = _type("a finite number", _number, _NUMBER)
Fraction = _type(
    "a number above 0 and below 1",
    lambda v: _number(v) and 0.0 < v < 1.0,
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
)
Whole = _type(
    "a whole number", lambda v: isinstance(v, int) and not isinstance(v, bool), {"type": "integer"}
)
Switch = _type("true or false", lambda v: isinstance(v, bool), {"type": "boolean"})
Gains = _type(
    'true, false or a list of gains such as ["kiv", "kp1"]',
    lambda v: isinstance(v, bool) or (isinstance(v, list) and bool(v) and all(map(_text, v))),
    {"anyOf": [{"type": "boolean"}, {"type": "array", "items": _TEXT, "minItems": 1}]},
)
Window = _type(
    "two numbers, start and end in s, the end later",
    lambda v: _numbers(v) and len(v) == 2 and v[0] < v[1],
    {**_NUMBERS, "minItems": 2, "maxItems": 2},
)
Rows = _type(
    "two whole numbers, the first and the last row, counted from 1",
    lambda v: _numbers(v) and len(v) == 2 and all(isinstance(each, int) for each in v),
    {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2, "maxItems": 2},
)
Trim = _type(
    "two whole numbers, samples at start and end",
    lambda v: _numbers(v) and len(v) == 2 and all(isinstance(each, int) for each in v),
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    tuple,
)
PerJoint = _type(
    "a number, or a list of one for each joint", lambda v: _number(v) or _numbers(v), _PER_JOINT
)
PerJointLimit = _type(
    "a number (inf: none), or a list of one for each joint",
    lambda v: _limit(v) or (isinstance(v, list) and bool(v) and all(map(_limit, v))),
    _PER_JOINT,
)
Angles = _type(
    'a number, a text such as "pi/2" or "90 deg", or a list of one for each joint',
    lambda v: _angle(v) or (isinstance(v, list) and bool(v) and all(map(_angle, v))),
    {"anyOf": [_ANGLE, {"type": "array", "items": _ANGLE}]},
    lambda v: [radians_of(each) for each in v] if isinstance(v, list) else radians_of(v),
)
Ranges = _type(
    "a list of [lower, upper] for each joint",
    lambda v: (
        isinstance(v, list)
        and bool(v)
        and all(isinstance(row, list) and len(row) == 2 and all(map(_angle, row)) for row in v)
    ),
    {
        "type": "array",
        "items": {"type": "array", "items": _ANGLE, "minItems": 2, "maxItems": 2},
        "minItems": 1,
    },
    lambda v: [[radians_of(each) for each in row] for row in v],
)
Box = _type(
    "three lists [lower, upper] of x, y and z in m, such as [[-1, 1], [-1, 1], [0, inf]]",
    lambda v: (
        isinstance(v, list)
        and len(v) == 3
        and all(isinstance(row, list) and len(row) == 2 and all(map(_limit, row)) for row in v)
    ),
    {
        "type": "array",
        "items": {**_NUMBERS, "minItems": 2, "maxItems": 2},
        "minItems": 3,
        "maxItems": 3,
    },
)
Gain = _type(
    "a number, a list of one for each joint, or a square matrix",
    lambda v: _number(v) or _numbers(v) or _matrix(v),
    {"anyOf": [_NUMBER, _NUMBERS, _MATRIX]},
)
Gear = _type(
    '"robot" (the gears of its description), a number, a list of one for each joint, or a square '
    "matrix",
    lambda v: v == "robot" or _number(v) or _numbers(v) or _matrix(v),
    {"anyOf": [{"const": "robot"}, _NUMBER, _NUMBERS, _MATRIX]},
)
Vector = _type(
    "a list of three numbers",
    lambda v: _numbers(v) and len(v) == 3,
    {**_NUMBERS, "minItems": 3, "maxItems": 3},
)
Column = _type(
    'a column\'s name or number (1 is the first), a range of numbers such as "2-7", or a list of '
    "them, one for each joint",
    lambda v: _column(v) or (isinstance(v, list) and bool(v) and all(map(_column, v))),
    {"anyOf": [_COLUMN, {"type": "array", "items": _COLUMN, "minItems": 1}]},
)
Unit = _type(
    'a unit such as "deg", or the factor to SI, one for all joints or a list of one for each',
    lambda v: _text(v) or _number(v) or _numbers(v),
    {"anyOf": [_TEXT, _NUMBER, _NUMBERS]},
)
TextOrTexts = _type(
    "a text, or a list of one for each joint",
    lambda v: _text(v) or (isinstance(v, list) and bool(v) and all(map(_text, v))),
    {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
)
Texts = _type(
    "a list of texts",
    lambda v: isinstance(v, list) and all(map(_text, v)),
    {"type": "array", "items": {"type": "string"}},
)

Positions = _type(
    "a table of joint names and positions in rad or m, such as { wheel = 0.0 }",
    lambda v: isinstance(v, dict) and all(map(_angle, v.values())),
    {"type": "object", "additionalProperties": _ANGLE},
    lambda v: {name: radians_of(each) for name, each in v.items()},
)
Values = _type(
    "a table of names and numbers, such as { vs1 = 0.05 }",
    lambda v: isinstance(v, dict) and all(map(_number, v.values())),
    {"type": "object", "additionalProperties": _NUMBER},
)
NamedTexts = _type(
    'a table of names and texts, such as { l = "sqrt(a^2 + q^2)" }',
    lambda v: isinstance(v, dict) and all(map(_text, v.values())),
    {"type": "object", "additionalProperties": _TEXT},
)
JointName = _type(
    "the number of a joint, from 1, or its name",
    lambda v: _text(v) or (isinstance(v, int) and not isinstance(v, bool)),
    {"anyOf": [_TEXT, {"type": "integer", "minimum": 1}]},
)


def _initial(*names: str) -> Any:
    """Where an iteration starts."""
    return _type(
        f"{', '.join(map(repr, names))}, a saved estimate (.json) or a list of base parameters",
        lambda v: v in names or (isinstance(v, str) and v.endswith(".json")) or _numbers(v),
        {"anyOf": [{"enum": list(names)}, {"type": "string", "pattern": "[.]json$"}, _NUMBERS]},
    )


Initial = _initial("unit", "identity", "nominal")
InitialOrPrior = _initial("prior", "unit", "nominal")
Start = _type(
    '"tracking", "measured", or the lists [q, dq]',
    lambda v: (
        v in ("tracking", "measured")
        or (isinstance(v, list) and len(v) == 2 and all(map(_numbers, v)))
    ),
    {
        "anyOf": [
            {"enum": ["tracking", "measured"]},
            {"type": "array", "items": _NUMBERS, "minItems": 2, "maxItems": 2},
        ]
    },
    lambda v: v if isinstance(v, str) else tuple(v),
)
Cutoff = _type(
    'a number in Hz, "auto" or "none"',
    lambda v: v in ("auto", "none") or _number(v),
    {"anyOf": [_NUMBER, {"enum": ["auto", "none"]}]},
    lambda v: None if v == "none" else v,
)
Scan = _type(
    'true, false or "auto"',
    lambda v: isinstance(v, bool) or v == "auto",
    {"enum": [True, False, "auto"]},
)
