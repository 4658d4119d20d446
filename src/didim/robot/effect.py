"""`Effect`: what acts on a joint beside the inertia of its link, declared by an expression.

The torque is an expression of the joint's q, dq, ddq, of slip (-1 to 1, the Coulomb force of its
contact over its limit), of its load (its torque without its own friction and offset) and of logged
channels. Parameters that the torque is linear in become columns of W; others are shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from didim.errors import InputError, nearest, shortened
from didim.expressions.expression import derivative, evaluate, names, substitute
from didim.expressions.grammar import parse
from didim.expressions.nodes import Expression, Name, Number
from didim.robot.effect_checks import check_types, is_number, is_symbol

_MAX_UNIT = 30
"""Letters of a unit."""

MOTION = ("q", "dq", "ddq", "slip", "load")
"""What every expression may use beside parameters and channels."""

RECORDED = ("t", "tau", "control", "q_ref", "dq_ref", "ddq_ref")
"""Signals of every record, which cannot be names of channels."""


class ParameterKind(Enum):
    """What a parameter describes."""

    INERTIA = "inertia"
    """XX XY XZ YY YZ ZZ: inertia of a link about the origin of its joint's frame."""
    FIRST_MOMENT = "first moment"
    """MX MY MZ: mass of a link times its centre of mass."""
    MASS = "mass"
    """M: mass of a link."""
    ROTOR = "rotor"
    """Ia: inertia of a motor and its transmission, seen from the joint."""
    VISCOUS = "viscous friction"
    """Fv, or Fvp and Fvn for each direction of motion; and powers of the velocity."""
    COULOMB = "Coulomb friction"
    """Fc, or Fcp and Fcn for each direction of motion; dFs, and mu of the load."""
    OFFSET = "offset"
    """off: a constant torque."""
    TORQUE = "torque"
    """The size of a torque of position or of a logged channel: springs, ripple, own effects."""
    SHAPE = "shape"
    """What the torque is not linear in: a velocity, an exponent, an angle."""

    @property
    def is_inertial(self) -> bool:
        """Whether it is one of the ten parameters of a link."""
        return self in (ParameterKind.INERTIA, ParameterKind.FIRST_MOMENT, ParameterKind.MASS)

    @property
    def is_friction(self) -> bool:
        """Whether it is viscous or Coulomb friction."""
        return self in (ParameterKind.VISCOUS, ParameterKind.COULOMB)


class Sign(Enum):
    """Which signs physics allows a parameter."""

    POSITIVE = "positive"
    ANY = "any"


@dataclass(frozen=True)
class EffectParameter:
    """One parameter of an effect."""

    kind: ParameterKind = ParameterKind.TORQUE
    unit: tuple[str, str] = ("N m", "N")
    """SI, on a revolute and on a prismatic joint."""
    sign: Sign = Sign.ANY
    value: float | None = None
    """Nominal value; of a shape where the search for it starts. None: unknown."""
    known: bool = False
    """A shape that is held at its value unless it is asked for."""
    direction: int = 0
    """Of asymmetric friction: +1 forward, -1 backward; else 0."""


PARAMETER_KEYS = ("unit", "value", "sign", "known", "kind", "direction")

_OWN_KINDS = {
    kind.value: kind
    for kind in (
        ParameterKind.ROTOR,
        ParameterKind.VISCOUS,
        ParameterKind.COULOMB,
        ParameterKind.OFFSET,
        ParameterKind.TORQUE,
        ParameterKind.SHAPE,
    )
}
"""What a parameter of a user's effect can describe."""


def own_parameter(given: Mapping[str, Any] | EffectParameter, where: str) -> EffectParameter:
    """A parameter of a user's effect: { unit = "N.m/rad", value = 1.0, sign = "positive" }."""
    if isinstance(given, EffectParameter):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            f'{where} must be a table such as {{ unit = "N.m/rad" }}, found {shortened(given)}.'
        )
    for key in given:
        if key not in PARAMETER_KEYS:
            raise InputError(f"{where}: unknown key {key!r}; {nearest(str(key), PARAMETER_KEYS)}")
    value, unit = given.get("value"), given.get("unit", "")
    if not isinstance(unit, str) or not unit.isprintable() or len(unit) > _MAX_UNIT:
        raise InputError(f"{where}: unit must be a short text, found {shortened(unit)}.")
    choices: dict[str, tuple[Any, list[Any]]] = {
        "sign": (Sign.ANY.value, [each.value for each in Sign]),
        "kind": (ParameterKind.TORQUE.value, list(_OWN_KINDS)),
        "direction": (0, [0, 1, -1]),
        "known": (False, [True, False]),
    }
    chosen = {key: given.get(key, usual) for key, (usual, _) in choices.items()}
    for key, (usual, allowed) in choices.items():
        if type(chosen[key]) is not type(usual) or chosen[key] not in allowed:
            raise InputError(
                f"{where}: {key} must be one of {', '.join(map(repr, allowed))}, found "
                f"{shortened(chosen[key])}."
            )
    if value is not None and not is_number(value):
        raise InputError(f"{where}: value must be a finite number, found {shortened(value)}.")
    return EffectParameter(
        _OWN_KINDS[chosen["kind"]],
        (unit, unit),
        Sign(chosen["sign"]),
        None if value is None else float(value),
        chosen["known"],
        chosen["direction"],
    )


@dataclass(frozen=True, eq=False)
class Effect:
    """An effect of a joint, or of several together.

    Shipped and own effects have the same rights; `didim.effects()` lists the shipped ones.
    """

    name: str
    torque: str
    """The expression, N.m or N."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Parameters by symbol: `EffectParameter`, or a table with unit, value, sign, known."""
    fixed: Mapping[str, float] = field(default_factory=dict)
    """Numbers by symbol."""
    let: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations: expressions by symbol, which the torque and later ones may use."""
    joint: int | str | None = None
    """The joint that it acts on: its number, from 1, or its name. None: the robot's joints name the
    effect.
    """
    weights: Mapping[int | str, float] = field(default_factory=dict)
    """Several joints instead, with the weight of each: q and dq are then the weighted sums, and the
    torque acts on each joint times its weight.
    """
    channels: tuple[str, ...] = ()
    """Names of logged channels that the expression uses."""
    conservative: bool = False
    """Whether it is part of the load, as a spring is; friction is not."""
    about: str = ""
    """What it is, in a line."""

    def __post_init__(self) -> None:
        if not is_symbol(self.name):
            raise InputError(
                "An effect's name must be a word of letters, digits and _, found "
                f"{shortened(self.name)}."
            )
        where = f"effect {self.name!r}"
        check_types(vars(self), where)
        if self.joint is not None and self.weights:
            raise InputError(f"{where}: give either joint or weights, not both.")
        unknown = {
            symbol: own_parameter(each, f"{where}, {shortened(symbol, 40)}")
            for symbol, each in self.unknown.items()
        }
        object.__setattr__(self, "unknown", unknown)
        object.__setattr__(self, "channels", tuple(self.channels))
        symbols = [*unknown, *self.fixed, *self.let, *self.channels]
        for symbol in symbols:
            if not is_symbol(symbol):
                raise InputError(
                    f"{where}: {shortened(symbol)} is no symbol; use letters, digits and _."
                )
            recorded = symbol in RECORDED and symbol in self.channels
            if symbol in MOTION or recorded or symbols.count(symbol) > 1:
                raise InputError(f"{where}: the symbol {symbol!r} is taken; choose another.")
        if not unknown:
            raise InputError(
                f"{where}: a torque needs at least one unknown that it is linear in; hold it with "
                "the model's `fixed` where it is known."
            )
        _ = self.terms

    @cached_property
    def expression(self) -> Expression:
        """The torque with abbreviations and fixed numbers put in."""
        where = f"effect {self.name!r}"
        known = [*MOTION, *self.unknown, *self.fixed, *self.channels]
        put: dict[str, Expression | float] = {k: float(v) for k, v in self.fixed.items()}
        for symbol, text in self.let.items():
            put[symbol] = substitute(parse(text, known, f"{where}, {symbol}"), put)
            known.append(symbol)
        return substitute(parse(self.torque, known, where), put)

    @cached_property
    def linear(self) -> tuple[str, ...]:
        """Symbols that the torque is linear in, all of them together."""
        chosen: list[str] = []
        for symbol in self.unknown:
            slope = derivative(self.expression, symbol)
            if not names(slope) & {symbol, *chosen} and slope != Number(0.0):
                chosen.append(symbol)
        return tuple(chosen)

    @property
    def shapes(self) -> tuple[str, ...]:
        """The other unknowns, in the order of their declaration."""
        return tuple(symbol for symbol in self.unknown if symbol not in self.linear)

    @cached_property
    def terms(self) -> dict[str, Expression]:
        """What multiplies each linear parameter."""
        where, found = f"effect {self.name!r}", {}
        unused = [each for each in self.unknown if each not in names(self.expression)]
        if unused:
            raise InputError(f"{where}: the torque does not depend on {', '.join(unused)}.")
        alone = substitute(self.expression, dict.fromkeys(self.linear, 0.0))
        if alone != Number(0.0):
            raise InputError(
                f"{where}: the torque must vanish where {', '.join(self.linear) or 'all unknowns'} "
                "are zero. Give each part a factor that is unknown, and hold it with the model's "
                "`fixed` where it is known."
            )
        for symbol in self.linear:
            found[symbol] = derivative(self.expression, symbol)
            self._check_term(symbol, found[symbol], where)
        for symbol in self.shapes:
            if self.unknown[symbol].value is None:
                raise InputError(
                    f"{where}: the torque is not linear in {symbol}; give a value to start from: "
                    f"{symbol} = {{ value = ... }}."
                )
        return found

    def _check_term(self, symbol: str, term: Expression, where: str) -> None:
        used = names(term)
        if "ddq" in used and term != Name("ddq"):
            raise InputError(
                f"{where}: ddq may only stand as {symbol} * ddq; the simulation solves for it."
            )
        if "load" in used and "slip" not in used:
            raise InputError(
                f"{where}: load may only stand in a friction limit, {symbol} * slip * ..."
            )
        if "slip" in used:
            at = dict.fromkeys(used, 0.3) | {
                each: float(self.unknown[each].value or 1.0) for each in used & set(self.unknown)
            }
            half, full, back = (evaluate(term, at | {"slip": slip}) for slip in (0.5, 1.0, -1.0))
            other = evaluate(term, at | {"slip": -0.5})
            if not np.allclose([2 * half, 2 * other], [full, back], equal_nan=True):
                raise InputError(
                    f"{where}: what multiplies {symbol} must be proportional to slip, to "
                    "max(slip, 0) or to min(slip, 0); give parts without slip an unknown of their "
                    "own."
                )

    def at(self, joint: int | str) -> Effect:
        """The same on a joint of a robot."""
        return replace(self, joint=joint, weights={})
