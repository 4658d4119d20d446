"""From a robot and a choice of effects to a `Layout`: columns joint by joint, couplings, and
effects that name their joints themselves.

What multiplies a parameter is a signal that the kernels have at hand, or it becomes a term.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from didim.dynamics.layout import SLIPS, Entry, Layout
from didim.dynamics.parameters import (
    ParameterInfo,
    ParameterKind,
    effect_parameter,
    inertial_parameter,
)
from didim.dynamics.terms import Term, TermTable
from didim.dynamics.tie import Tie
from didim.dynamics.tied import tied_of
from didim.errors import InputError
from didim.expressions.expression import names, substitute
from didim.expressions.grammar import parse
from didim.expressions.nodes import Expression, Name
from didim.robot.catalogue import CATALOGUE
from didim.robot.effect import Effect
from didim.robot.effects import COUPLING_STEMS, EFFECTS, LINK, check_effects, family
from didim.robot.robot import Coupling, Robot

_ZZ, _M = LINK.index("ZZ"), LINK.index("M")

_NATIVE: dict[Expression, str] = {
    parse(text, ("ddq", "dq", "slip"), ""): signal
    for text, signal in {
        "ddq": "ddq",
        "dq": "dq",
        "max(dq, 0)": "dq+",
        "min(dq, 0)": "dq-",
        "slip": "slip",
        "max(slip, 0)": "slip+",
        "min(slip, 0)": "slip-",
        "1": "one",
    }.items()
}
"""Signals that the kernels have at hand; every other expression becomes a term."""


def layout_of(robot: Robot, effects: Iterable[str | Effect] | None) -> Layout:
    """The columns of `robot` with `effects`; None: all that it declares.

    Implements (3).
    """
    chosen, own = _chosen_effects(robot, effects)
    couplings = robot.couplings if effects is None or "coupling" in list(effects) else ()
    prismatic = [joint.kind == "prismatic" for joint in robot.numbered]
    builder = _Builder(robot, prismatic)
    for j, joint in enumerate(robot.numbered):
        for stem, value in zip(LINK, joint.link, strict=True):
            builder.link[j].append(builder.column(inertial_parameter(stem, j), value))
        for effect in CATALOGUE.values():
            if effect.name in chosen[j]:
                builder.effect(effect, {j: 1.0}, f"{j + 1}", f"Fc{j + 1}", joint.nominal)
    for coupling in couplings:
        _couple(builder, coupling, prismatic)
    for effect in own:
        weights = robot.weights_of(effect)
        single = len(weights) == 1 and set(weights.values()) == {1.0}
        contact = f"Fc{next(iter(weights)) + 1}" if single else effect.name
        builder.effect(effect, weights, f"_{effect.name}", contact, {})
        builder.own.append(effect)
    return builder.build()


def _couple(builder: _Builder, coupling: Coupling, prismatic: Sequence[bool]) -> None:
    """Columns of a coupling with weights u: (u u' - diag(u^2)) ddq, the same on dq, and u slip for
    its contact.
    """
    first = next(iter(coupling.weights))
    for effect, stem in COUPLING_STEMS.items():
        if effect not in coupling.effects:
            continue
        declared = CATALOGUE[effect].unknown[stem]
        parameter = effect_parameter(
            stem, declared, first, prismatic[first], coupling.name, coupling.name
        )
        column = builder.column(parameter, coupling.nominal.get(stem, np.nan))
        if stem == "Fc":
            contact = builder.contact(f"Fc{coupling.name}", dict(coupling.weights))
            for j, weight in coupling.weights.items():
                builder.entry(j, column, "slip", contact, weight)
        else:
            for j, weight in coupling.weights.items():
                for k, other in coupling.weights.items():
                    if j != k:
                        signal = "ddq" if stem == "Ia" else "dq"
                        builder.entry(j, column, signal, k, weight * other)


class _Builder:
    """Collects columns, entries, terms and contacts in order."""

    def __init__(self, robot: Robot, prismatic: Sequence[bool]) -> None:
        self.n, self.prismatic, self.tied = robot.n, prismatic, tied_of(robot)
        self.parameters: list[ParameterInfo] = []
        self.nominal: list[float] = []
        self.link: list[list[int]] = [[] for _ in prismatic]
        self.entries: list[Entry] = []
        self.terms: list[Term] = []
        self.shapes: dict[str, tuple[ParameterInfo, float]] = {}
        self.channels: dict[str, str] = {}
        self.own: list[Effect] = []
        self.contacts: dict[str, dict[int, float]] = {}

    def column(self, parameter: ParameterInfo, nominal: float) -> int:
        if any(parameter.name == each.name for each in self.parameters):
            raise InputError(
                f"Two parameters are called {parameter.name!r}; rename the coupling or effect."
            )
        self.parameters.append(parameter)
        self.nominal.append(float(nominal))
        return len(self.parameters) - 1

    def contact(self, name: str, weights: dict[int, float]) -> int:
        """The index of a contact; effects of one joint share theirs."""
        if self.contacts.setdefault(name, weights) != weights:
            raise InputError(f"Two contacts are called {name!r}; rename the coupling or effect.")
        return list(self.contacts).index(name)

    def entry(
        self, row: int, column: int, signal: str, index: int, weight: float, own: bool = False
    ) -> None:
        self.entries.append(Entry(row, column, signal, index, weight, own))

    def effect(
        self,
        effect: Effect,
        weights: dict[int, float],
        suffix: str,
        contact: str,
        nominal: Mapping[str, float],
    ) -> None:
        """The columns of an effect on the joints of `weights`."""
        joint, tie = next(iter(weights)), None
        if self.tied is not None and max(weights) >= self.n:
            tie = Tie(self.tied, weights, effect)
            weights = tie.weights
            contact = f"Fc{tie.joint + 1}" if tie.single else effect.name
        for name in effect.channels:
            self.channels.setdefault(name, effect.name)
        label = effect.name if effect.joint is not None or effect.weights else None
        named: dict[str, Expression | float] = {}
        for symbol in effect.shapes:
            declared = effect.unknown[symbol]
            shape = effect_parameter(symbol, declared, joint, self.prismatic[joint], suffix)
            value = nominal.get(symbol, declared.value)
            assert value is not None
            info = replace(shape, kind=ParameterKind.SHAPE, known=declared.known, effect=label)
            self.shapes[info.name] = (info, float(value))
            named[symbol] = Name(info.name)
        for symbol, term in effect.terms.items():
            declared = effect.unknown[symbol]
            parameter = effect_parameter(symbol, declared, joint, self.prismatic[joint], suffix)
            default = np.nan if declared.value is None else declared.value
            parameter = replace(parameter, effect=label)
            column = self.column(parameter, nominal.get(symbol, default))
            touches = "slip" in names(term)
            index = self.contact(contact, weights) if touches else -1
            own = not effect.conservative and (not touches or len(weights) == 1)
            made = substitute(term, named)
            if tie is not None and tie.single and (signal := _NATIVE.get(made)) is not None:
                self._reflected(column, tie, index, signal, own)
            else:
                made = made if tie is None else tie.reflected(made)
                self._torque(column, weights, index, effect.conservative, made, own)

    def _reflected(self, column: int, tie: Tie, contact: int, signal: str, own: bool) -> None:
        """The entry of a signal of the kernels on a joint that follows a coordinate."""
        signal, weight = tie.signal(signal)
        index = contact if signal in SLIPS else (0 if signal == "one" else tie.joint)
        self.entry(tie.joint, column, signal, index, weight, own)

    def _torque(
        self,
        column: int,
        weights: dict[int, float],
        contact: int,
        conservative: bool,
        term: Expression,
        own: bool,
    ) -> None:
        """Entries of one parameter: a signal of the kernels where there is one, else a term."""
        joint, signal = next(iter(weights)), _NATIVE.get(term)
        if signal in SLIPS:
            for j, w in weights.items():
                self.entry(j, column, signal, contact, w, own)
        elif signal is not None and weights == {joint: 1.0}:
            self.entry(joint, column, signal, 0 if signal == "one" else joint, 1.0, own)
        elif signal == "ddq":
            for j, w in weights.items():
                for k, other in weights.items():
                    self.entry(j, column, signal, k, w * other)
        else:
            for j, w in weights.items():
                self.entry(j, column, "term", len(self.terms), w, own)
            self.terms.append(Term(column, weights, contact, conservative, term))

    def build(self) -> Layout:
        link = np.array(self.link, dtype=np.int64)
        contact = np.zeros((len(self.contacts), self.n))
        for c, weights in enumerate(self.contacts.values()):
            for j, weight in weights.items():
                contact[c, j] = weight
        values = np.array([value for _, value in self.shapes.values()])
        shapes = tuple(shape for shape, _ in self.shapes.values())
        layout = Layout(
            self.n,
            tuple(self.parameters),
            np.array(self.nominal),
            link,
            np.where(self.prismatic, link[:, _M], link[:, _ZZ]),
            tuple(self.entries),
            tuple(self.contacts),
            contact,
            TermTable(
                self.n,
                tuple(self.terms),
                shapes,
                values,
                tuple(self.channels),
                tuple(entry.own for entry in self.entries),
            ),
            tuple(self.own),
            self.channels,
            self.tied,
        )
        if layout.terms.loaded:
            _check_loads(layout)
        return layout


def _check_loads(layout: Layout) -> None:
    """Friction that follows the load needs a contact of one joint alone."""
    for term in layout.terms.terms:
        if term.contact >= 0 and len(term.weights) > 1:
            raise InputError(
                f"{layout.names[term.column]}: friction of several joints together cannot be "
                "combined with friction that grows with the load; leave one of them out."
            )


def _chosen_effects(
    robot: Robot, effects: Iterable[str | Effect] | None
) -> tuple[list[frozenset[str]], tuple[Effect, ...]]:
    """Effects of each joint, and those that name their joints themselves.

    One that is asked for goes to the joints that declare its family, or to all if none does.
    """
    declared = [joint.effects for joint in robot.numbered]
    if effects is None:
        return declared, robot.effects
    if isinstance(effects, str):
        raise InputError(f"effects must be a list of names, not the text {effects!r}.")
    listed, by_name = list(effects), {effect.name: effect for effect in robot.effects}
    given = [effect for effect in listed if isinstance(effect, Effect)]
    words = [effect for effect in listed if not isinstance(effect, Effect)]
    own = [*(by_name[word] for word in words if word in by_name), *given]
    asked = check_effects(
        [word for word in words if word not in by_name], "DynamicModel", (*EFFECTS, *by_name)
    )
    if "coupling" in asked and not robot.couplings:
        raise InputError(
            f"The effect 'coupling' was asked for, but robot {robot.name!r} declares no coupling."
        )
    chosen: list[set[str]] = [set() for _ in declared]
    for effect in asked - {"coupling"}:
        at = [j for j, known in enumerate(declared) if family(effect) in {family(e) for e in known}]
        for j in at or range(robot.n):
            chosen[j].add(effect)
    return [frozenset(each) for each in chosen], tuple(own)
