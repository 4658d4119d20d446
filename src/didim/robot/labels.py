"""How a joint is named in messages."""

from __future__ import annotations

from didim.robot.robot import Robot


def joint_label(robot: Robot, j: int) -> str:
    """A joint by number and name: a coordinate, or one that follows a coordinate."""
    return f"joint {j + 1} ({robot.numbered[j].name})"
