"""Robot description: `Robot`, and the readers and writers of robot files."""

from didim.robot.drive import Drive
from didim.robot.effect import Effect
from didim.robot.load import load_robot, shipped_robots
from didim.robot.robot import Coupling, Joint, Robot

__all__ = [
    "Coupling",
    "Drive",
    "Effect",
    "Joint",
    "Robot",
    "load_robot",
    "shipped_robots",
]
