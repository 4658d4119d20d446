"""Which parameter stands where: the names, order and meaning of the columns of W. No other file
computes an index of phi.

The standard parameters (3) are listed joint by joint in Khalil's order, couplings last. Beside the
ten of each link, a parameter acts through entries: torque of joint `row` += weight * source *
parameter, the source being an acceleration, a velocity, a contact's slip or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from didim.errors import InputError
from didim.robot.effects import COUPLING_STEMS, EFFECTS, LINK, STEMS, check_effects, family
from didim.robot.robot import Coupling, Robot

__all__ = ["Entry", "Layout", "ParameterInfo", "ParameterKind", "Sign", "layout_of", "tree_of"]

Array = NDArray[np.float64]

_ZZ, _M = LINK.index("ZZ"), LINK.index("M")

_SOURCES = {
    "Ia": "ddq",
    "Fv": "dq",
    "Fvp": "dq+",
    "Fvn": "dq-",
    "Fc": "slip",
    "Fcp": "slip+",
    "Fcn": "slip-",
    "off": "one",
}


_SLIPS = ("slip", "slip+", "slip-")


@dataclass(frozen=True, eq=False)
class Entry:
    """torque of joint `row` += weight * signal[index] * phi[column]."""

    row: int
    column: int
    signal: str
    index: int
    weight: float


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
        )


def tree_of(robot: Robot) -> Tree:
    """The robot's geometry as the kernels read it."""
    return Tree(
        np.array([joint.parent for joint in robot.joints], dtype=np.int64),
        np.array([joint.kind == "prismatic" for joint in robot.joints], dtype=np.int64),
        np.stack([joint.rotation for joint in robot.joints]).astype(float),
        np.stack([joint.translation for joint in robot.joints]).astype(float),
        np.array(robot.gravity, dtype=float),
    )


def layout_of(robot: Robot, effects: Iterable[str] | None) -> Layout:
    """The columns of `robot` with `effects`; None: all that it declares.

    Implements (3).
    """
    chosen = _effects_by_joint(robot, effects)
    couplings = robot.couplings if effects is None or "coupling" in list(effects) else ()
    prismatic = [joint.kind == "prismatic" for joint in robot.joints]
    builder = _Builder(robot.n)
    for j, joint in enumerate(robot.joints):
        for stem, value in zip(LINK, joint.link, strict=True):
            builder.link[j].append(builder.column(inertial_parameter(stem, j), value))
        for effect, stems in STEMS.items():
            if effect in chosen[j]:
                contact = (
                    builder.touch(f"Fc{j + 1}", {j: 1.0}) if family(effect) == "coulomb" else j
                )
                for stem in stems:
                    parameter = effect_parameter(stem, j, prismatic[j])
                    column = builder.column(parameter, joint.nominal.get(stem, np.nan))
                    builder.entry(j, column, _SOURCES[stem], contact if stem != "off" else 0, 1.0)
    for coupling in couplings:
        _couple(builder, coupling, prismatic)
    return builder.build(prismatic)


def _couple(builder: _Builder, coupling: Coupling, prismatic: Sequence[bool]) -> None:
    """Columns of a coupling with weights u: (u u' - diag(u^2)) ddq, the same on dq, and u slip for
    its contact.
    """
    first = next(iter(coupling.weights))
    for effect, stem in COUPLING_STEMS.items():
        if effect not in coupling.effects:
            continue
        parameter = effect_parameter(stem, first, prismatic[first], coupling.name)
        column = builder.column(parameter, coupling.nominal.get(stem, np.nan))
        if stem == "Fc":
            contact = builder.touch(f"Fc{coupling.name}", dict(coupling.weights))
            for j, weight in coupling.weights.items():
                builder.entry(j, column, "slip", contact, weight)
        else:
            for j, weight in coupling.weights.items():
                for k, other in coupling.weights.items():
                    if j != k:
                        builder.entry(j, column, _SOURCES[stem], k, weight * other)


class _Builder:
    """Collects columns, entries and contacts in order."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.parameters: list[ParameterInfo] = []
        self.nominal: list[float] = []
        self.link: list[list[int]] = [[] for _ in range(n)]
        self.entries: list[Entry] = []
        self.contacts: dict[str, dict[int, float]] = {}

    def column(self, parameter: ParameterInfo, nominal: float) -> int:
        if any(parameter.name == each.name for each in self.parameters):
            raise InputError(f"Two parameters are called {parameter.name!r}; rename the coupling.")
        self.parameters.append(parameter)
        self.nominal.append(float(nominal))
        return len(self.parameters) - 1

    def touch(self, name: str, weights: dict[int, float]) -> int:
        if name in self.contacts:
            raise InputError(f"Two contacts are called {name!r}; rename the coupling.")
        self.contacts[name] = weights
        return len(self.contacts) - 1

    def entry(self, row: int, column: int, signal: str, index: int, weight: float) -> None:
        self.entries.append(Entry(row, column, signal, index, weight))

    def build(self, prismatic: Sequence[bool]) -> Layout:
        link = np.array(self.link, dtype=np.int64)
        contact = np.zeros((len(self.contacts), self.n))
        for c, weights in enumerate(self.contacts.values()):
            for j, weight in weights.items():
                contact[c, j] = weight
        return Layout(
            self.n,
            tuple(self.parameters),
            np.array(self.nominal),
            link,
            np.where(prismatic, link[:, _M], link[:, _ZZ]),
            tuple(self.entries),
            tuple(self.contacts),
            contact,
        )


def _effects_by_joint(robot: Robot, effects: Iterable[str] | None) -> list[frozenset[str]]:
    """Effects of each joint. One that is asked for goes to the joints that declare its family, or
    to all if none does.
    """
    declared = [joint.effects for joint in robot.joints]
    if effects is None:
        return declared
    asked = check_effects(effects, "DynamicModel", EFFECTS)
    if "coupling" in asked and not robot.couplings:
        raise InputError(
            f"The effect 'coupling' was asked for, but robot {robot.name!r} declares no coupling."
        )
    chosen: list[set[str]] = [set() for _ in declared]
    for effect in asked - {"coupling"}:
        at = [
            j for j, own in enumerate(declared) if family(effect) in {family(each) for each in own}
        ]
        for j in at or range(robot.n):
            chosen[j].add(effect)
    return [frozenset(each) for each in chosen]
