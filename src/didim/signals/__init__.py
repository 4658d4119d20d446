"""Measured and reference signals: experiments, references and trajectories; reading, resampling,
filtering and decimation of records.
"""

from didim.signals.alignment import TimeOffset, time_offset
from didim.signals.experiment import Experiment
from didim.signals.load import load_experiment, load_reference
from didim.signals.reference import Reference
from didim.signals.trajectories import Fourier, PointToPoint

__all__ = [
    "Experiment",
    "Fourier",
    "PointToPoint",
    "Reference",
    "TimeOffset",
    "load_experiment",
    "load_reference",
    "time_offset",
]
