"""`Effect`: what acts on a joint beside the inertia of its link, declared by an expression.

The torque is an expression of the joint's q, dq, ddq, of slip (-1 to 1, the Coulomb force of its
contact over its limit), of its load (its torque without its own friction and offset) and of logged
channels. Parameters that the torque is linear in become columns of W; others are shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from didim.errors import InputError, shortened
from didim.expressions.expression import derivative, evaluate, names, substitute
from didim.expressions.grammar import parse
from didim.expressions.nodes import Expression, Name, Number
from didim.robot.effect_checks import check_types, is_symbol
from didim.robot.effect_parameter import own_parameter

MOTION = ("q", "dq", "ddq", "slip", "load")
"""What every expression may use beside parameters and channels."""

TRIED_STATES = 200
"""Random states in which a torque is evaluated before it is taken."""

RECORDED = ("t", "tau", "control", "q_ref", "dq_ref", "ddq_ref")
"""Signals of every record, which cannot be names of channels."""


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
        self._check_finite(where)
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

    def _check_finite(self, where: str) -> None:
        """Refuse a torque that has no value in any of some random states."""
        random, used = np.random.default_rng(0), names(self.expression)
        tried: dict[str, Any] = {each: random.uniform(-2, 2, TRIED_STATES) for each in MOTION}
        tried |= {each: random.uniform(0, 40, TRIED_STATES) for each in self.channels}
        tried |= {
            each: random.uniform(0.5, 1.5, TRIED_STATES) * (parameter.value or 1.0)
            for each, parameter in self.unknown.items()
        }
        values = evaluate(self.expression, {each: tried[each] for each in used})
        if not np.isfinite(values).any():
            raise InputError(
                f"{where}: the torque is not finite in any state: does it divide by zero, or take "
                "the root or logarithm of a negative number?"
            )

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
