"""A regular clock for a record: jittering times are resampled on the logged time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.signals.channels import channel_notes
from didim.signals.experiment import Experiment
from didim.signals.reference import Reference
from didim.signals.trajectory import Trajectory

Array = NDArray[np.float64]

MAX_JITTER = 0.01
"""Fraction of the period by which times may miss a regular clock and still count as regular."""

GAP_PERIODS = 5.5
"""Periods without a sample that make a gap."""


def period_of(t: Array) -> float:
    """The sampling period, s: the mean one where the clock is regular, else the median."""
    mean = float(t[-1] - t[0]) / (t.size - 1)
    return mean if _misses(t, mean) <= MAX_JITTER else float(np.median(np.diff(t)))


def mean_rate(t: Array) -> float:
    """Samples per second, on average, gaps not counted; the median period may be that of another
    rate.
    """
    step = np.diff(t)
    return float(1.0 / np.mean(step[step <= GAP_PERIODS * period_of(t)]))


def is_regular(t: Array) -> bool:
    """Whether the times lie on a regular clock."""
    return bool(_misses(t, period_of(t)) <= MAX_JITTER)


def regular(experiment: Experiment, interpolation: str = "cubic") -> Experiment:
    """The experiment on a regular clock: itself if it has one, else resampled at its median period,
    with a note.

    Torques are interpolated linearly, positions and velocities by cubic splines. A reference given
    on the logged times keeps them, read with `interpolation`. Notes are added for gaps, repeated
    samples and dead channels.
    """
    t, tau = experiment.t, experiment.tau
    notes = [*experiment.notes, *channel_notes(experiment)]
    if is_regular(t):
        return (
            experiment
            if len(notes) == len(experiment.notes)
            else replace(experiment, notes=tuple(notes))
        )
    step = np.diff(t)
    period = period_of(t)
    clock: Array = t[0] + period * np.arange(int(np.floor((t[-1] - t[0]) / period + 1e-6)) + 1)
    notes.append(
        f"The times jitter (steps of {1e3 * step.min():.3g} to {1e3 * step.max():.3g} ms, "
        f"{mean_rate(t):.4g} Hz on average): resampled every {1e3 * period:.4g} ms."
    )
    gaps = np.flatnonzero(step > GAP_PERIODS * period)
    if gaps.size:
        widest = gaps[step[gaps].argmax()]
        notes.append(
            f"{gaps.size} gaps; the longest, {step[widest]:.3g} s at t = {t[widest]:.6g} s, was "
            "bridged by "
            "a straight line: better split the record there (between)."
        )
    signals: dict[str, Any] = {
        name: None if (value := getattr(experiment, name)) is None else _spline(t, value, clock)
        for name in ("q", "dq")
    }
    torque = None if tau is None else np.column_stack([np.interp(clock, t, x) for x in tau.T])
    reference = experiment.q_ref
    if reference is not None and not isinstance(reference, Trajectory):
        reference = Reference(t, reference, interpolation=interpolation)
    signals["channels"] = {
        name: np.interp(clock, t, value) for name, value in experiment.channels.items()
    }
    return replace(experiment, t=clock, tau=torque, q_ref=reference, notes=tuple(notes), **signals)


def _spline(t: Array, values: Array, clock: Array) -> Array:
    """Cubic splines through `values` (N, n) at the times of `clock`."""
    from scipy.interpolate import CubicSpline  # only few records need it

    return np.asarray(CubicSpline(t, values, axis=0)(clock))


def _misses(t: Array, period: float) -> float:
    """Largest distance of a time to the clock t[0] + k period, in periods."""
    return float(np.abs((t - t[0]) / period - np.arange(t.size)).max())
