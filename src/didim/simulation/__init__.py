"""The closed loop integrated in time, its sensitivities, and virtual experiments."""

from didim.simulation.case import Case, load_case
from didim.simulation.motion import Motion
from didim.simulation.sensitivities import Sensitivities, sensitivities
from didim.simulation.simulate import UnstableLoopWarning, simulate
from didim.simulation.virtual import Truth, virtual_experiment

__all__ = [
    "Case",
    "Motion",
    "Sensitivities",
    "Truth",
    "UnstableLoopWarning",
    "load_case",
    "sensitivities",
    "simulate",
    "virtual_experiment",
]
