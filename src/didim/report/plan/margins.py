"""How far the motion stays inside each limit: of the joints, and in space."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.design.clearance import clearances
from didim.design.plan import Plan
from didim.results.formatting import fraction, listed

KINDS = ("position", "velocity", "acceleration", "jerk", "torque")

TIGHT = 0.05
"""A margin below this fraction of its limit binds."""

SHOWN = 12
"""Distances in the table, the nearest ones."""


def margins(plan: Plan) -> dict[str, Any]:
    """Tables of the margins."""
    joints = plan.model.robot.joint_names
    rows = [
        (joint, [_cell(plan.margins.get(f"{kind} of {joint}")) for kind in KINDS])
        for joint in joints
    ]
    watched = clearances(plan.model.robot, plan.limits)
    distances = watched.distances(plan.motion.q)
    near = distances.min(axis=0) if watched.names else np.empty(0)
    space = [
        (
            watched.names[k],
            f"{distances[:, k].min():.3f}",
            f"{plan.motion.t[int(distances[:, k].argmin())]:.2f}",
        )
        for k in np.argsort(near)[:SHOWN]
    ]
    fitted = [each.label for each in watched.links if each.fitted]
    return {
        "kinds": KINDS,
        "rows": rows,
        "space": space,
        "count": len(watched.names),
        "clearance": watched.clearance,
        "left_out": watched.left_out if plan.limits.is_cartesian else (),
        "fitted": listed(fitted, 12) if plan.limits.is_cartesian else "",
        "problems": [each.problem for each in watched.links if each.problem],
        "binding": listed(plan.binding, 6),
        "defaults": listed(_defaults(plan), 12),
    }


def _defaults(plan: Plan) -> list[str]:
    """Limits that were not given; all joints as one."""
    found, left = [], list(plan.limits.defaults)
    for kind in KINDS:
        own = [f"{kind} of {joint}" for joint in plan.model.robot.joint_names]
        if len(own) > 1 and set(own) <= set(left):
            found.append(f"{kind} of all joints")
            left = [each for each in left if each not in own]
    return found + left


def _cell(margin: float | None) -> tuple[str, bool]:
    """How it is shown, and whether it binds."""
    if margin is None or not np.isfinite(margin):
        return "-", False
    return fraction(margin), margin < TIGHT
