"""Control laws, their tuning and the linearised loop."""

from didim.control.actuators import load_controller
from didim.control.law import Controller
from didim.control.laws import PD, PID, Cascade, ComputedTorque, OwnLaw
from didim.control.linear import LinearLoop, linearise
from didim.control.servo import Servo
from didim.control.tuning import largest_inertias
from didim.control.user import UserLaw, control_law

__all__ = [
    "PD",
    "PID",
    "Cascade",
    "ComputedTorque",
    "Controller",
    "LinearLoop",
    "OwnLaw",
    "Servo",
    "UserLaw",
    "control_law",
    "largest_inertias",
    "linearise",
    "load_controller",
]
