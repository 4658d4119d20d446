"""Which parameters make the friction of a joint, and which the torque of its position.

Only what one joint does alone is a curve: couplings and effects of several joints together are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.layout import Entry, Layout
from didim.dynamics.model import BaseModel
from didim.errors import InputError, nearest
from didim.expressions.expression import names
from didim.validation import whole

Flags = NDArray[np.bool_]

_OF_VELOCITY = frozenset({"dq", "slip"})


@dataclass(frozen=True, eq=False)
class EffectColumns:
    """Which base parameters act on a joint by its own effects."""

    friction: Flags
    """(b,) effects of the velocity, and what is constant: offsets, effects of channels alone."""
    position: Flags
    """(b,) effects of the position, and of no velocity."""
    rubs: bool
    """Whether one of them depends on the velocity."""


def effect_columns(model: BaseModel, joint: int) -> EffectColumns:
    """The base parameters of the effects of a joint. One that is regrouped with an inertia is no
    effect any more.
    """
    friction, position = (np.zeros(len(model.parameter_names), dtype=bool) for _ in range(2))
    rubs = False
    for entry, column in zip(model.layout.entries, model.columns.column, strict=True):
        arguments = _arguments(model.layout, entry)
        if entry.row != joint or column < 0 or arguments is None:
            continue
        of_velocity = bool(arguments & _OF_VELOCITY)
        of_position = "q" in arguments and not of_velocity
        rubs |= of_velocity
        (position if of_position else friction)[column] = True
    return EffectColumns(friction, position, rubs)


def _arguments(layout: Layout, entry: Entry) -> frozenset[str] | None:
    """What the torque of an entry depends on; None where that is an acceleration, or the motion of
    several joints.
    """
    if entry.signal == "one":
        return frozenset()
    if entry.signal == "term":
        term = layout.terms.terms[entry.index]
        return frozenset(names(term.expression)) if len(term.weights) == 1 else None
    if entry.signal.startswith("slip"):
        return frozenset({"slip"}) if layout.only[entry.index] == entry.row else None
    own = entry.signal != "ddq" and entry.index == entry.row
    return frozenset({"dq"}) if own else None


def joint_index(model: BaseModel, joint: int | str) -> int:
    """The index of a joint, counted from 0, given as such or by its name."""
    known = model.robot.joint_names
    if isinstance(joint, str):
        if joint not in known:
            raise InputError(f"There is no joint {joint!r}; {nearest(joint, known)}")
        return known.index(joint)
    n = model.robot.n
    if whole(joint, "joint, counted from 0,", least=0) >= n:
        raise InputError(
            f"joint {joint} does not exist: {model.robot.name!r} has joints 0 to {n - 1}."
        )
    return int(joint)
