"""Which parameter stands where: the names, order and meaning of the columns of W. No other file
computes an index of phi.

The standard parameters (3) are listed joint by joint in Khalil's order, couplings last. Beside the
ten of each link, a parameter acts through entries: torque of joint `row` += weight * source *
parameter, the source being an acceleration, a velocity, a contact's slip, 1, or a term: the
expression of an effect (`terms.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
)
from didim.dynamics.terms import TermTable
from didim.dynamics.tied import Tied
from didim.robot.effect import Effect
from didim.robot.robot import Robot

__all__ = ["Entry", "Layout", "ParameterInfo", "ParameterKind", "Sign", "tree_of"]

Array = NDArray[np.float64]

SLIPS = ("slip", "slip+", "slip-")
"""Signals of contacts."""


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
    """Number of coordinates; m joints, as many unless some follow others."""
    parameters: tuple[ParameterInfo, ...]
    """(p,) what the parameter of each column is."""
    nominal: Array
    """(p,) values of the description, nan where it gives none."""
    link: NDArray[np.int64]
    """(m, 10) column of each link parameter, by the number of the joint."""
    axis_inertia: NDArray[np.int64]
    """(m,) column of the link's inertia in the motion of its own joint: ZZ_j, or M_j where joint j
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
    tied: Tied | None = None
    """What joints follow; None: each is a coordinate."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(p,) names of the parameters."""
        return tuple(each.name for each in self.parameters)

    @cached_property
    def _tree_link(self) -> NDArray[np.int64]:
        """(m, 10) `link` in the order of the tree."""
        return self.link if self.tied is None else self.link[self.tied.number]

    @cached_property
    def _term_columns(self) -> NDArray[np.int64]:
        """(K,) column of each term's parameter."""
        return np.array([term.column for term in self.terms.terms], dtype=np.int64)

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
    def _first(self) -> NDArray[np.intp]:
        """(c,) the first joint of each contact."""
        return np.argmax(self.contact != 0, axis=1)

    @cached_property
    def rubs(self) -> NDArray[np.bool_]:
        """(n, c) whether the friction of a contact acts on the torque of a joint."""
        acts = np.zeros((self.n, len(self.contacts)), dtype=bool)
        for entry in self.entries:
            if entry.signal in SLIPS:
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
            place[self._tree_link],
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
            if entry.signal in SLIPS and entry.row == self._first[entry.index]:
                limit = entry.weight / self.contact[entry.index, entry.row] * value
                forward[entry.index] += limit if entry.signal != "slip-" else 0.0
                backward[entry.index] += limit if entry.signal != "slip+" else 0.0
        return Values(
            phi[self._tree_link],
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
            phi[self._term_columns],
        )


def tree_of(robot: Robot) -> Tree:
    """The robot's geometry as the kernels read it, without terms and ties: these need memory of
    their own, see `TreeMemory`.
    """
    return Tree(
        np.array([joint.parent for joint in robot.joints], dtype=np.int64),
        np.array([joint.kind == "prismatic" for joint in robot.joints], dtype=np.int64),
        np.stack([joint.rotation for joint in robot.joints]).astype(float),
        np.stack([joint.translation for joint in robot.joints]).astype(float),
        np.array(robot.gravity, dtype=float),
        0,
        0,
    )
