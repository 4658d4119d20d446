"""Which parameter stands where: the names, order and meaning of the columns of W. No other file
computes an index of phi.

The standard parameters (3) are listed joint by joint in Khalil's order, couplings last. Beside the
ten of each link, a parameter acts through entries: torque of joint `row` += weight * source *
parameter, the source being an acceleration, a velocity, a contact's slip, 1, or a term: the
expression of an effect (`terms.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.kernels.regressor import Columns, source_starts
from didim.dynamics.kernels.tree import Tree, Values
from didim.dynamics.parameters import (
    ParameterInfo,
    ParameterKind,
    Sign,
    effect_parameter,
    inertial_parameter,
)
from didim.dynamics.terms import Term, TermTable
from didim.errors import InputError
from didim.expressions.expression import names, substitute
from didim.expressions.grammar import parse
from didim.expressions.nodes import Expression, Name
from didim.robot.catalogue import CATALOGUE
from didim.robot.effect import Effect
from didim.robot.effects import COUPLING_STEMS, EFFECTS, LINK, check_effects, family
from didim.robot.robot import Coupling, Robot

__all__ = ["Entry", "Layout", "ParameterInfo", "ParameterKind", "Sign", "layout_of", "tree_of"]

Array = NDArray[np.float64]

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

_SLIPS = ("slip", "slip+", "slip-")


@dataclass(frozen=True, eq=False)
class Entry:
    """torque of joint `row` += weight * signal[index] * phi[column]."""

    row: int
    column: int
    signal: str
    index: int
    weight: float
    own: bool = False
    """Whether it is the friction or the offset of the joint itself, which is no load."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a robot's standard model with a choice of effects."""

    n: int
    parameters: tuple[ParameterInfo, ...]
    """(p,) what the parameter of each column is."""
    nominal: Array
    """(p,) values of the description, nan where it gives none."""
    link: NDArray[np.int64]
    """(n, 10) column of each link parameter."""
    axis_inertia: NDArray[np.int64]
    """(n,) column of the link's inertia in the motion of its own joint: ZZ_j, or M_j where joint j
    is prismatic.
    """
    entries: tuple[Entry, ...]
    contacts: tuple[str, ...]
    contact: Array
    """(c, n) velocity of the contacts = contact @ dq."""
    terms: TermTable
    """Effects that are expressions."""
    own: tuple[Effect, ...]
    """Effects that name their joints themselves."""
    needs: Mapping[str, str]
    """From each logged channel to the effect that uses it first."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(p,) names of the parameters."""
        return tuple(each.name for each in self.parameters)

    @cached_property
    def coupled(self) -> int:
        """Whether accelerations or velocities of other joints act on a joint."""
        return int(
            any(entry.row != entry.index for entry in self.entries if entry.signal in ("ddq", "dq"))
        )

    @cached_property
    def only(self) -> NDArray[np.int64]:
        """(c,) the one joint of each contact, -1 where it couples several."""
        return np.array(
            [row.argmax() if np.count_nonzero(row) == 1 else -1 for row in np.abs(self.contact)],
            dtype=np.int64,
        )

    @cached_property
    def rubs(self) -> NDArray[np.bool_]:
        """(n, c) whether the friction of a contact acts on the torque of a joint."""
        acts = np.zeros((self.n, len(self.contacts)), dtype=bool)
        for entry in self.entries:
            if entry.signal in _SLIPS:
                acts[entry.row, entry.index] = True
        for term in self.terms.terms:
            if term.contact >= 0:
                acts[list(term.weights), term.contact] = True
        return acts

    def columns(self, kept: Iterable[int] | None = None) -> Columns:
        """The kernels' view of the columns: all of them, or only those of the indices `kept`,
        renumbered in that order.
        """
        chosen = range(len(self.names)) if kept is None else kept
        place = np.full(len(self.names), -1)
        for position, column in enumerate(chosen):
            place[column] = position
        starts = source_starts(self.n, len(self.contacts))
        return Columns(
            place[self.link],
            np.array([entry.row for entry in self.entries], dtype=np.int64),
            place[np.array([entry.column for entry in self.entries], dtype=np.int64)],
            np.array(
                [starts[entry.signal] + entry.index for entry in self.entries], dtype=np.int64
            ),
            np.array([entry.weight for entry in self.entries], dtype=float),
        )

    def values(self, phi: Array) -> Values:
        """The parameters phi (p,) sorted by what they do, for the kernels."""
        n, c = self.n, len(self.contacts)
        armature, viscous = np.zeros((n, n)), np.zeros((n, n))
        plain = {signal: np.zeros(n) for signal in ("dq+", "dq-", "one")}
        forward, backward = np.zeros(c), np.zeros(c)
        for entry in self.entries:
            value = phi[entry.column]
            if entry.signal == "ddq":
                armature[entry.row, entry.index] += entry.weight * value
            elif entry.signal == "dq":
                viscous[entry.row, entry.index] += entry.weight * value
            elif entry.signal in plain:
                plain[entry.signal][entry.row] += entry.weight * value
            if entry.signal in ("slip", "slip+"):
                forward[entry.index] = value
            if entry.signal in ("slip", "slip-"):
                backward[entry.index] = value
        return Values(
            phi[self.link],
            armature,
            viscous,
            plain["dq+"],
            plain["dq-"],
            plain["one"],
            self.coupled,
            self.contact,
            self.only,
            forward,
            backward,
            phi[[term.column for term in self.terms.terms]],
        )


def tree_of(robot: Robot) -> Tree:
    """The robot's geometry as the kernels read it, without terms: these need memory of their own,
    see `TermsMemory`.
    """
    return Tree(
        np.array([joint.parent for joint in robot.joints], dtype=np.int64),
        np.array([joint.kind == "prismatic" for joint in robot.joints], dtype=np.int64),
        np.stack([joint.rotation for joint in robot.joints]).astype(float),
        np.stack([joint.translation for joint in robot.joints]).astype(float),
        np.array(robot.gravity, dtype=float),
        0,
    )


def layout_of(robot: Robot, effects: Iterable[str | Effect] | None) -> Layout:
    """The columns of `robot` with `effects`; None: all that it declares.

    Implements (3).
    """
    chosen, own = _chosen_effects(robot, effects)
    couplings = robot.couplings if effects is None or "coupling" in list(effects) else ()
    prismatic = [joint.kind == "prismatic" for joint in robot.joints]
    builder = _Builder(robot.n, prismatic)
    for j, joint in enumerate(robot.joints):
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

    def __init__(self, n: int, prismatic: Sequence[bool]) -> None:
        self.n, self.prismatic = n, prismatic
        self.parameters: list[ParameterInfo] = []
        self.nominal: list[float] = []
        self.link: list[list[int]] = [[] for _ in range(n)]
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
        joint = next(iter(weights))
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
            self._torque(column, weights, index, effect.conservative, substitute(term, named), own)

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
        if signal in _SLIPS:
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
    declared = [joint.effects for joint in robot.joints]
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
