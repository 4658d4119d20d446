"""The time offset between a reference and the record that followed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError
from didim.signals.experiment import Experiment
from didim.validation import per_joint, real

Array = NDArray[np.float64]

_MAX_SAMPLES, _COARSE_SAMPLES = 20_000, 4_000
"""Samples that the search uses, at most, and in its coarse pass."""


@dataclass(frozen=True)
class TimeOffset:
    """Shift the reference by `seconds` (later if positive) and it fits the record."""

    seconds: float
    misfit: float
    """rms of measured minus shifted reference positions, over the rms motion of each joint."""
    misfit_before: float
    """The same without a shift."""

    def __str__(self) -> str:
        side = "lags behind" if self.seconds >= 0 else "leads"
        return (
            f"The record {side} its reference by {1e3 * abs(self.seconds):.3g} ms "
            f"(misfit {100 * self.misfit_before:.3g} % before, {100 * self.misfit:.3g} % after a "
            "shift)."
        )


def motion_frequency(experiment: Experiment) -> float:
    """Angular frequency of the reference, rad/s: rms velocity over rms position about the mean,
    over the joints that move.
    """
    q, dq, _ = experiment.reference("linear").sample(experiment.t)
    spread, speed = q.std(axis=0), np.sqrt(np.mean(dq**2, axis=0))
    moves = spread > 0
    return float(np.sqrt(np.mean((speed[moves] / spread[moves]) ** 2))) if moves.any() else 0.0


def time_offset(experiment: Experiment, lag: ArrayLike = 0.0, most: float = 1.0) -> TimeOffset:
    """Estimate the delay of the record behind its reference, from the measured positions.

    A loop lags by itself; `lag` (s, one number or one for each joint) is what belongs to the loop
    and is not an offset of the clocks: for the law (53) it is 1/kp, with a full velocity reference
    0. The search is bounded by +-most s and by half the record.
    """
    from scipy.optimize import minimize_scalar  # slow to import

    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment must be a didim.Experiment, found {type(experiment).__name__}."
        )
    if experiment.q is None:
        raise InputError(
            f"Experiment {experiment.name!r} has no measured positions, which the time offset is "
            "estimated from; give q."
        )
    trajectory, n = experiment.reference(), experiment.n
    length = float(experiment.t[-1] - experiment.t[0])
    if real(most, "most", above=0.0) > 0.5 * length:
        most = 0.5 * length
    most, lags = real(most, "most", above=0.0), per_joint(lag, "lag", n)
    thin = max(1, experiment.t.size // _MAX_SAMPLES)
    t, q = experiment.t[::thin], experiment.q[::thin]
    spread = q.std(axis=0)
    moves = spread > 0
    if not moves.any():
        raise InputError(
            f"No joint moves in experiment {experiment.name!r}: the time offset cannot be "
            "estimated."
        )
    inside = (t >= trajectory.span[0] + most) & (t <= trajectory.span[1] - most)
    inside = inside if inside.sum() > 100 else np.ones(t.size, dtype=bool)

    def misfit(shift: float, every: int = 1) -> float:
        """rms over the joints that move, all of them on their own scale; of one sample in so
        many.
        """
        at, error = t[inside][::every], np.zeros((0,))
        for lag in np.unique(lags[moves]):
            alike = np.flatnonzero(moves & (lags == lag))
            reference = trajectory.positions(at - shift - lag, alike)
            error = np.concatenate(
                [error, ((q[inside][::every, alike] - reference) / spread[alike]).ravel()]
            )
        return float(np.sqrt(np.mean(error**2)))

    grid, every = np.linspace(-most, most, 81), max(1, int(inside.sum()) // _COARSE_SAMPLES)
    best = grid[int(np.argmin([misfit(shift, every) for shift in grid]))]
    spacing = grid[1] - grid[0]
    found = minimize_scalar(
        misfit, bounds=(best - spacing, best + spacing), method="bounded", options={"xatol": 1e-7}
    )
    before = misfit(0.0)
    return (
        TimeOffset(float(found.x), float(found.fun), before)
        if found.fun < before
        else TimeOffset(0.0, before, before)
    )
