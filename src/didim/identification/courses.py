"""What drives the simulation of a record: its reference in closed loop, its torque in open loop,
and where that starts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.signals.experiment import Experiment
from didim.signals.reference import CachedTrajectory, Reference, Trajectory
from didim.simulation.setup import trajectory_of

Array = NDArray[np.float64]

_FIRST = 50
"""Samples that the initial state of an open loop is taken from."""


def reference_course(record: Experiment, interpolation: str) -> Trajectory:
    """The reference; a trajectory remembers its pieces from one simulation to the next."""
    course = trajectory_of(
        record.reference(interpolation), np.asarray(record.t), record.n, interpolation, "q_ref"
    )
    return course if isinstance(course, Reference) else CachedTrajectory(course)


def torque_course(record: Experiment) -> Trajectory:
    """The recorded torque as what drives the robot."""
    return Reference(record.t, record.tau, interpolation="cubic")


def measured_start(record: Experiment) -> tuple[Array, Array]:
    """Position and velocity at the first sample, from the measured positions: a parabola through
    the first of them.
    """
    t, q = np.asarray(record.t), np.asarray(record.q)
    few = slice(0, min(_FIRST, t.size))
    fit = np.polynomial.polynomial.polyfit(t[few] - t[0], q[few], 2)
    return fit[0], fit[1]
