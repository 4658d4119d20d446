"""The tables [[effect]] of a study: what a user adds to the robot's effects."""

from __future__ import annotations

from typing import Any, Literal

from didim.study import types
from didim.study.table import Table


class UnknownTable(Table):
    """One parameter of an effect."""

    unit: types.Text = None
    """SI, for tables and reports."""
    value: types.Number = None
    """Nominal value; needed where the torque is not linear in it, as the start of the search."""
    sign: Literal["positive", "any"] | None = None
    """Which signs physics allows."""
    known: types.Switch = None
    """Whether a parameter that the torque is not linear in is held at its value."""
    kind: types.Text = None
    """"torque" (default), "viscous friction", "Coulomb friction", "rotor", "offset" or "shape"."""
    direction: types.Whole = None
    """Of friction in one direction of motion only: 1 or -1."""


class EffectTable(Table):
    """An effect of a joint, or of several, declared by its torque."""

    name: types.Text
    """A word; parameters are called symbol_name."""
    torque: types.Text
    """An expression of q, dq, ddq, slip, load, the symbols below and channels, N.m or N."""
    unknown: dict[str, UnknownTable]
    """Parameters by symbol."""
    joint: types.JointName = None
    """Number, from 1, or name of the joint that it acts on."""
    weights: types.Values = None
    """Several joints instead, by name: q and dq are the weighted sums."""
    fixed: types.Values = None
    """Numbers by symbol."""
    let: types.NamedTexts = None
    """Abbreviations: expressions by symbol, which the torque and later ones may use."""
    channels: types.Texts = None
    """Logged channels that the expression uses; `columns` of each experiment names their
    columns.
    """
    conservative: types.Switch = None
    """Whether it belongs to the load of the joint, as a spring does; friction does not."""
    about: types.Text = None
    """What it is, in a line."""

    @property
    def table(self) -> dict[str, Any]:
        """The keys that are given, as plain data."""
        return self.given() | {"unknown": {key: each.given() for key, each in self.unknown.items()}}
