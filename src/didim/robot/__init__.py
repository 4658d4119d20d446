"""What the machine is: `Robot` and the readers that make one."""

from didim.robot.drive import Drive
from didim.robot.load import load_robot, shipped_robots
from didim.robot.robot import Coupling, Joint, Robot

__all__ = ["Coupling", "Drive", "Joint", "Robot", "load_robot", "shipped_robots"]
