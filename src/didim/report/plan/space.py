"""The robot in space along the plan: what its links sweep over, floor and box."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.design.clearance import Clearances, clearances
from didim.design.kinematics import children, link_frames, placed
from didim.design.limits import Limits
from didim.design.plan import Plan
from didim.report.scene import Scene
from didim.report.sections.section import COLORS
from didim.robot.robot import BASE, Robot

Array = NDArray[np.float64]

POSES = 400
"""Of the picture."""

FLOOR_LINES = 9
"""Of the grid in each direction."""


def space(plan: Plan) -> dict[str, Any]:
    """The picture."""
    watched = clearances(plan.model.robot, plan.limits)
    chosen = np.unique(np.linspace(0, plan.motion.t.size - 1, POSES).round().astype(int))
    q = np.ascontiguousarray(plan.motion.q[chosen])
    links = watched.placed(q)
    owners = [k for k, link in enumerate(links) for _ in link]
    ends = np.stack(
        [np.stack([each.start.T, each.end.T], axis=1) for link in links for each in link], axis=1
    )
    nearest = watched.distances(q)
    least = nearest.min(axis=1) if watched.names else np.full(len(q), np.nan)
    names = [watched.names[k] for k in nearest.argmin(axis=1)] if watched.names else [""] * len(q)
    labels = [link.label for link in watched.links]
    scene = Scene(
        "What does each link sweep over?",
        _answer(plan, watched, ends),
        plan.motion.t[chosen],
        ends,
        np.array([each.radius for link in links for each in link]),
        tuple(f"c{owner % COLORS}" for owner in owners),
        _sticks(plan.model.robot, q),
        _frame(plan.limits, ends),
        least,
        tuple(names),
        tuple((label, f"c{k % COLORS}") for k, label in enumerate(labels)),
    )
    return {"scene": scene, "fitted": any(link.fitted for link in watched.links)}


def _answer(plan: Plan, watched: Clearances, ends: Array) -> str:
    low, high = ends.min(axis=(0, 1, 2)), ends.max(axis=(0, 1, 2))
    size = " x ".join(f"{each:.2f}" for each in high - low)
    text = f"The axes of the links sweep a space of {size} m"
    if not watched.names:
        return f"{text}; neither floor nor box nor self-collision is limited."
    distances = watched.distances(plan.motion.q)
    k = int(distances.min(axis=0).argmin())
    return f"{text}; nearest to a limit: {watched.names[k]}, {distances[:, k].min():.3f} m inside."


def _sticks(robot: Robot, q: Array) -> Array:
    """(K, S, 2, 3) from each joint to those that it carries."""
    frames = link_frames(robot, q)
    lines = [
        (np.zeros((3, len(q))) if k == BASE else frames[k][1], frames[child][1])
        for k in range(BASE, len(robot.joints))
        for child in children(robot)[k]
    ]
    tips = [
        (frames[k][1], placed(frames[k], _tip(robot, k)))
        for k in range(len(robot.joints))
        if not children(robot)[k]
    ]
    return np.stack([np.stack([a.T, b.T], axis=1) for a, b in (*lines, *tips)], axis=1)


def _tip(robot: Robot, k: int) -> Array:
    """(3,) the centre of mass of a last link; its origin where that is unknown."""
    moments, mass = robot.joints[k].link[6:9], robot.joints[k].link[9]
    return moments / mass if mass > 0 and np.isfinite(moments).all() else np.zeros(3)


def _frame(limits: Limits, ends: Array) -> Array:
    """(F, 2, 3) lines of the floor and edges of the box, as far as the robot reaches."""
    low, high = ends.min(axis=(0, 1, 2)) - 0.1, ends.max(axis=(0, 1, 2)) + 0.1
    lines: list[list[list[float]]] = []
    if limits.floor is not None:
        for part in np.linspace(0.0, 1.0, FLOOR_LINES):
            x, y = low[:2] + part * (high[:2] - low[:2])
            lines.append([[x, low[1], limits.floor], [x, high[1], limits.floor]])
            lines.append([[low[0], y, limits.floor], [high[0], y, limits.floor]])
    if limits.box is not None:
        corner = np.where(np.isfinite(limits.box), limits.box, np.column_stack([low, high]))
        for axis in range(3):
            for i in (0, 1):
                for k in (0, 1):
                    start, end = corner[:, 0].copy(), corner[:, 0].copy()
                    others = [other for other in range(3) if other != axis]
                    start[others] = end[others] = corner[others[0], i], corner[others[1], k]
                    end[axis] = corner[axis, 1]
                    lines.append([start.tolist(), end.tolist()])
    return np.array(lines).reshape(-1, 2, 3)
