"""`Estimate.consistency`: whether a physical robot with the identified base parameters exists, and
which links forbid it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.described import described_robot, round_body
from didim.dynamics.model import BaseModel
from didim.dynamics.physical import has_robot, lacks_of
from didim.results.formatting import joint_label, listed

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinkConsistency:
    """Whether the link of one joint can be a body."""

    joint: str
    """The joint that moves the link, by number and name."""
    lack: float
    """What has to be added to it, in round bodies of its described mass at its described centre;
    0 where nothing.
    """
    lacking_mass: float
    """The mass of these, kg."""

    @property
    def physical(self) -> bool:
        """Whether nothing lacks."""
        return self.lack == 0.0

    def __str__(self) -> str:
        if self.physical:
            return f"{self.joint}: physical"
        return f"{self.joint}: not physical, lacks {self.amount}"

    @property
    def amount(self) -> str:
        """What lacks, in words."""
        times = f"{100 * self.lack:.2g} % of" if self.lack < 1 else f"{self.lack:.3g} times"
        return f"{times} its described mass ({self.lacking_mass:.2g} kg)"


@dataclass(frozen=True)
class Consistency:
    """Whether a physical robot with these base parameters exists: pseudo-inertias positive
    semidefinite, rotor inertias and friction not negative.
    """

    links: tuple[LinkConsistency, ...]
    """Of each joint. Which links lack something is the answer with the least sum of lacks."""
    negative: Mapping[str, float] = field(default_factory=dict)
    """Rotor inertias and friction below zero, by name, SI: the value, or the largest possible one
    where base parameters do not determine it.
    """
    finite: bool = True
    """Whether the parameters are finite."""

    @property
    def physical(self) -> bool:
        """Whether such a robot exists."""
        return self.finite and not self.negative and all(each.physical for each in self.links)

    @property
    def reason(self) -> str:
        """One line: what forbids it, or that nothing does."""
        if not self.finite:
            return "the parameters are not finite"
        if self.physical:
            return "a physical robot with these base parameters exists"
        lacks = [
            f"the link of {each.joint} lacks {each.amount}"
            for each in sorted(self.links, key=lambda each: -each.lack)
            if not each.physical
        ]
        below = [f"{name} = {value:.3g}" for name, value in self.negative.items()]
        return "; ".join(
            ([listed(lacks, 3)] if lacks else [])
            + ([f"negative: {listed(below)}"] if below else [])
        )

    def __str__(self) -> str:
        head = "Physical" if self.physical else "Not physical"
        return "\n".join([f"{head}: {self.reason}.", *(f"  {each}" for each in self.links)])


def consistency_of(model: BaseModel, beta: Array, known: Array | None = None) -> Consistency:
    """Of base parameters beta (b,). `known` (p,) are standard parameters that may have them."""
    joints = [joint_label(model, j) for j in range(len(model.robot.joints))]
    if not np.isfinite(beta).all():
        return Consistency(tuple(LinkConsistency(each, 0.0, 0.0) for each in joints), finite=False)
    if known is not None and has_robot(model, beta, known):
        return Consistency(tuple(LinkConsistency(each, 0.0, 0.0) for each in joints))
    lacks, centre = lacks_of(model, beta), described_robot(model)
    masses = [round_body(centre[columns])[9] for columns in model.layout.link]
    return Consistency(
        tuple(
            LinkConsistency(joint, float(lack), float(lack * mass))
            for joint, lack, mass in zip(joints, lacks.links, masses, strict=True)
        ),
        {
            name: -float(lack)
            for name, lack in zip(model.full.parameter_names, lacks.single, strict=True)
            if lack > 0
        },
    )
