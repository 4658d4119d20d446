"""Where the links of a robot are: frames of all joints in the base frame, for many positions at
once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.tied import tied_of
from didim.robot.robot import BASE, Robot

Array = NDArray[np.float64]
Frame = tuple[Array, Array]
"""(3, 3, N) axes and (3, N) origin of one frame in the base frame; samples last, so that sums over
coordinates run over contiguous memory.
"""


def all_positions(robot: Robot, q: Array) -> Array:
    """(m, N) positions of all m joints, those that follow others included, from (N, n)
    coordinates.
    """
    tied = tied_of(robot)
    if tied is None:
        return np.ascontiguousarray(q.T)
    return q.T[tied.coordinate] * tied.ratio[:, None] + tied.offset[:, None]


def link_frames(robot: Robot, q: Array) -> list[Frame]:
    """The frames of `robot.joints`, in their order, at (N, n) coordinates."""
    frames: list[Frame] = []
    for joint, position in zip(robot.joints, all_positions(robot, q), strict=True):
        if joint.parent == BASE:
            axes = np.repeat(joint.rotation[:, :, None], position.size, axis=2)
            origin = np.repeat(joint.translation[:, None], position.size, axis=1)
        else:
            above, start = frames[joint.parent]
            axes = np.stack(
                [[_weighted(above[i], joint.rotation[:, k]) for k in range(3)] for i in range(3)]
            )
            origin = placed((above, start), joint.translation)
        if joint.kind == "revolute":
            cos, sin = np.cos(position), np.sin(position)
            x, y = axes[:, 0], axes[:, 1]
            axes = np.stack([x * cos + y * sin, y * cos - x * sin, axes[:, 2]], axis=1)
        else:
            origin = origin + axes[:, 2] * position
        frames.append((axes, origin))
    return frames


def placed(frame: Frame, point: Array) -> Array:
    """(3, N) a point (3,) of a frame in the base frame."""
    axes, origin = frame
    return np.stack([_weighted(axes[i], point) + origin[i] for i in range(3)])


def children(robot: Robot) -> list[list[int]]:
    """Indices of the joints that each joint carries, in `robot.joints`; the last entry: those of
    the base.
    """
    found: list[list[int]] = [[] for _ in range(len(robot.joints) + 1)]
    for k, joint in enumerate(robot.joints):
        found[joint.parent].append(k)
    return found


def _weighted(rows: Array, weights: Sequence[float] | Array) -> Array:
    """(N,) the sum of the three rows, weighted; zero weights cost nothing."""
    total: Array = np.zeros(rows.shape[1])
    for row, weight in zip(rows, weights, strict=True):
        if weight != 0.0:
            total += weight * row
    return total
