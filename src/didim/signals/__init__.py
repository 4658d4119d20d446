"""What was measured, and what was asked for: experiments, references and trajectories."""

from didim.signals.experiment import Experiment
from didim.signals.reference import Reference
from didim.signals.trajectories import Fourier, PointToPoint

__all__ = ["Experiment", "Fourier", "PointToPoint", "Reference"]
