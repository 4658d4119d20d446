"""Signals of a record that are not what they seem: samples that repeat the one before, and channels
that have one value for most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.signals.experiment import Experiment

Array = NDArray[np.float64]

MAX_REPEATED_FRACTION = 0.2
"""Fraction of samples whose torques are equal to those before, above which it is said."""

MAX_HELD_FRACTION = 0.005
"""Fraction of samples equal to the one before in every value, above which it is said."""

MAX_HELD_RUN = 10
"""Samples of such a run; in longer ones the robot, or the log, stands still."""

MAX_DEAD_FRACTION = 0.5
"""Fraction of samples with one and the same value, above which a channel is dead. At least a half:
that value is then the median.
"""


@dataclass(frozen=True)
class DeadChannel:
    """A column that has one value for most of the time."""

    signal: str
    """"tau" or "dq"."""
    joint: int
    """0 is the first."""
    value: float
    fraction: float
    """Of the samples."""

    def __str__(self) -> str:
        value = "zero" if self.value == 0 else f"{self.value:.6g}"
        return (
            f"{self.signal} of joint {self.joint + 1} is exactly {value} in "
            f"{100 * self.fraction:.0f} % of the samples"
        )


def repeated_torques(tau: Array | None) -> float:
    """Fraction of the samples of tau (N, n) that are equal to the one before; 0 without any."""
    return 0.0 if tau is None else float(np.mean(_repeats(tau)))


def _repeats(signal: Array) -> NDArray[np.bool_]:
    """(N - 1,) whether a sample of the signal (N, n) is equal to the one before."""
    return np.asarray(np.all(signal[1:] == signal[:-1], axis=1))


def held_samples(experiment: Experiment) -> int:
    """Samples equal to the one before in every value, in short runs: the log is faster than what it
    logs.
    """
    same = np.ones(experiment.t.size - 1, dtype=bool)
    for each in (experiment.tau, experiment.q, experiment.dq):
        if each is not None and same.any():
            same &= _repeats(each)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
    lengths = edges[1::2] - edges[::2]
    return int(lengths[lengths <= MAX_HELD_RUN].sum())


def dead_channels(experiment: Experiment) -> list[DeadChannel]:
    """Torques, and velocities of joints that move, with one value for most of the time."""
    found = []
    for key, signal in (("tau", experiment.tau), ("dq", experiment.dq)):
        for j, column in enumerate(() if signal is None else signal.T):
            value = float(np.partition(column, column.size // 2)[column.size // 2])
            at = column == value
            fraction = float(np.mean(at))
            if fraction > MAX_DEAD_FRACTION and (key == "tau" or _moves(experiment, j, at)):
                found.append(DeadChannel(key, j, value, fraction))
    return found


def _moves(experiment: Experiment, j: int, at: NDArray[np.bool_]) -> bool:
    """Whether the positions of joint j change at most of these samples."""
    if experiment.q is None:
        return False
    return float(np.mean(np.diff(experiment.q[:, j])[at[1:]] != 0)) > 0.5


def channel_notes(experiment: Experiment) -> list[str]:
    """Notes on repeated samples and dead channels."""
    fraction, count = repeated_torques(experiment.tau), experiment.t.size
    notes = []
    if MAX_REPEATED_FRACTION < fraction < 1.0:
        notes.append(
            f"{100 * fraction:.0f} % of the torque samples repeat the one before: the log is "
            "sampled faster than the measurement."
        )
    elif (held := held_samples(experiment)) > MAX_HELD_FRACTION * count:
        notes.append(
            f"{held} of {count} samples repeat the one before in every value: the log is faster "
            "than what it logs. They were kept."
        )
    return notes + [f"{each}." for each in dead_channels(experiment)]
