"""The motion that W is built from, at the samples of a record: measured and differentiated, or that
of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError, naming
from didim.signals.experiment import Experiment
from didim.signals.filters import estimated_motion
from didim.signals.resample import period_of

Array = NDArray[np.float64]

MIN_TRAVEL = 1e-9
"""A joint that covers less than this (rad or m) does not move."""


@dataclass(frozen=True, eq=False)
class States:
    """A motion at the N samples of a record."""

    q: Array
    """(N, n) rad or m."""
    dq: Array
    ddq: Array
    slip: Array | None = None
    """(N, c) of the contacts; None: the sign of their velocities."""
    signals: Mapping[str, Array] = field(default_factory=dict)
    """What effects need beside the motion: logged channels (N,), and "load" (N, n)."""

    def at(self, samples: NDArray[np.int64] | slice) -> States:
        """The motion at some of its samples."""
        return States(
            self.q[samples],
            self.dq[samples],
            self.ddq[samples],
            None if self.slip is None else self.slip[samples],
            {name: np.asarray(signal)[samples] for name, signal in self.signals.items()},
        )


def still_joints(q: Array) -> NDArray[np.bool_]:
    """(n,) joints whose measured positions (N, n) do not move: no range, or an encoder flickering
    between two counts.
    """
    flickers = [np.all((column == column.min()) | (column == column.max())) for column in q.T]
    return np.array(flickers) | (np.ptp(q, axis=0) < MIN_TRAVEL)


def measured_positions(experiment: Experiment, method: str = "IDIM") -> Array:
    """(N, n) rad or m; a record without positions, which the method needs, is refused."""
    if experiment.q is None:
        raise InputError(
            f"Experiment {experiment.name!r} has no measured positions, which {method} needs; "
            "give q, "
            "or use DIDIM (method = "
            '"didim" in a study), which needs torque and reference only.'
        )
    return experiment.q


def measured_states(
    experiment: Experiment, cutoff: float | None, order: int = 4, accuracy: int = 2
) -> States:
    """The measured motion of a regularly sampled record, filtered and differentiated; still joints
    are exactly at rest.
    """
    q = measured_positions(experiment)
    rate = 1.0 / period_of(experiment.t)
    with naming(f"Experiment {experiment.name!r}"):
        smooth, dq, ddq = estimated_motion(q, rate, cutoff, order, accuracy)
    moves = ~still_joints(q)
    dq, ddq = np.where(moves, dq, 0.0), np.where(moves, ddq, 0.0)
    return States(smooth, dq, ddq, signals=experiment.channels)


def reference_states(experiment: Experiment) -> States:
    """The reference in place of the motion, which section VI.B warns against."""
    trajectory = experiment.reference()
    return States(*trajectory.sample(experiment.t), signals=experiment.channels)
