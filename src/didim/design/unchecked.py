"""What a plan does not check, or checks with a guess, in sentences for its messages."""

from __future__ import annotations

from didim.design.capsules import GIVE_SHAPES, named_with_reason
from didim.design.clearance import Clearances
from didim.design.limits import Limits
from didim.results.formatting import listed


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
