"""A plan as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from didim.results.formatting import listed, number, percent

if TYPE_CHECKING:
    from didim.design.plan import Plan

WORST = 8
"""Unknowns that the summary names, least known first."""


def summary(plan: Plan) -> str:
    """What is planned, what it will tell, what binds, and what to know."""
    robot = plan.model.robot
    gains = " with unknown gains" if plan.gains_unknown else ""
    lines = [
        f"{robot.name}: {plan.duration:g} s of motion for {plan.method}{gains}, "
        f"{len(plan.names)} unknowns",
    ]
    if plan.stopped:
        lines.append("stopped on request: the best plan until then")
    if unseen := undetermined(plan):
        lines.append(f"not determined: {len(unseen)} unknowns, {listed(unseen)}")
    relative = plan.relative_sigma
    known = np.flatnonzero(np.isfinite(relative))
    if known.size:
        order = known[np.argsort(relative[known])[::-1]][:WORST]
        worst = listed([f"{plan.names[k]} {percent(relative[k])} %" for k in order])
        lines += [
            f"predicted sigma: median {percent(float(np.median(relative[known])))} %, "
            f"{int(np.sum(relative[known] < 30))} of {described(plan)} below 30 %",
            f"least known: {worst}",
        ]
    ratio = random_ratio(plan)
    if np.isfinite(ratio):
        lines.append(f"sigma over that of the best random plan: {number(ratio)} (geometric mean)")
    if plan.sigma_before is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            left = plan.sigma / plan.sigma_before
        gained = np.argsort(np.where(np.isfinite(left), left, np.inf))[:WORST]
        lines.append(
            "gains most: "
            + listed([f"{plan.names[k]} to {number(left[k])} of its sigma" for k in gained])
        )
    if plan.margins:
        least = min(plan.margins, key=lambda each: plan.margins[each])
        lines.append(
            f"every limit is met; least margin {100 * plan.margins[least]:.3g} % ({least}); "
            f"binding: {listed(plan.binding) or 'none'}"
        )
    lines += [f"note: {message}" for message in plan.messages]
    return "\n".join(lines)


def undetermined(plan: Plan) -> list[str]:
    """Unknowns that no record of the plan determines."""
    return [
        name for name, each in zip(plan.names, plan.sigma, strict=True) if not np.isfinite(each)
    ]


def described(plan: Plan) -> int:
    """How many unknowns have a nominal value that sigma can be compared with."""
    return int(np.sum(np.isfinite(plan.values) & (plan.values != 0)))


def random_ratio(plan: Plan) -> float:
    """Geometric mean of sigma over that of the best random plan; nan where none was compared."""
    if plan.sigma_random is None:
        return float("nan")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(plan.sigma / plan.sigma_random)
    ratio = ratio[np.isfinite(ratio)]
    return float(np.exp(ratio.mean())) if ratio.size else float("nan")
