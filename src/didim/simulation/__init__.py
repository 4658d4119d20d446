"""What the machine would do: the closed loop integrated in time, and virtual experiments."""

from didim.simulation.motion import Motion
from didim.simulation.simulate import UnstableLoopWarning, simulate

__all__ = ["Motion", "UnstableLoopWarning", "simulate"]
