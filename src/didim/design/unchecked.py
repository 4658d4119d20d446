"""What a plan does not check, or checks with a guess, and which joints do not follow it, in
sentences for its messages.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from didim.design.capsules import GIVE_SHAPES, named_with_reason
from didim.design.clearance import Clearances
from didim.design.limits import Limits
from didim.results.formatting import listed
from didim.signals.trajectory import Trajectory
from didim.simulation.motion import Motion

FOLLOWS = 0.01
"""Of the range of a reference that a joint which follows it moves over at least."""


def unchecked(limits: Limits, clearances: Clearances | None) -> tuple[str, ...]:
    """Limits by default, torques without a limit, links that are not watched or whose shapes are
    guesses.
    """
    found = []
    if limits.defaults:
        found.append(f"Limits by default: {listed(limits.defaults)}; give them in Limits.")
    if free := limits.without_torque:
        found.append(
            f"Torque is not checked for {listed(free)}: the description has no limit of it; give "
            "torque in Limits."
        )
    if clearances is None:
        return tuple(found)
    if limits.self_collision is not None and not clearances.pairs:
        pairs = [f"{each.name} ({each.why})" for each in clearances.left_out if each.is_pair]
        reason = f": {listed(pairs, 3)}" if pairs else ", the robot has one link"
        found.append(f"Self-collision is not checked, no pair of links can be watched{reason}.")
    if guessed := [link for link in clearances.links if link.fitted]:
        found.append(
            f"The shapes of {named_with_reason(guessed)} are guesses, capsules fitted from joint "
            f"to joint; {GIVE_SHAPES}."
        )
    return tuple(found)


def stationary(trajectory: Trajectory, motion: Motion, joints: Sequence[str]) -> tuple[str, ...]:
    """Joints that stand, or nearly so, while their reference moves."""
    asked, done = (np.ptp(q, axis=0) for q in (trajectory.positions(motion.t), motion.q))
    still = [joints[int(j)] for j in np.flatnonzero(done < FOLLOWS * asked)]
    if not still:
        return ()
    return (
        f"{listed(still)} does not follow in this loop: friction or saturation holds it. What a "
        "record tells of it is little; raise its gains or its velocity limit.",
    )
