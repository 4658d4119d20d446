"""Checks of a record's clock: jitter, gaps, repeated samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from didim.checks.data import CheckData
from didim.checks.finding import Finding, graded
from didim.signals.channels import MAX_REPEATED_FRACTION, repeated_torques
from didim.signals.resample import GAP_PERIODS, MAX_JITTER, is_regular, mean_rate, period_of

SLOWEST_RATE, FASTEST_RATE = 10.0, 1e5
"""Hz: logs of robots are rarely sampled more slowly or faster."""

MAX_GAP_FRACTION = 0.1
"""Fraction of a record that gaps may take before it fails."""


def sampling(data: CheckData) -> Iterator[Finding]:
    """Regular, or jittering."""
    t = data.record.t
    step, period = np.diff(t), period_of(t)
    length = f"{t.size} samples in {t[-1] - t[0]:.4g} s, {mean_rate(t):.5g} Hz"
    spread = float(np.std(step[step < GAP_PERIODS * period])) / period
    if not SLOWEST_RATE < 1.0 / period < FASTEST_RATE:
        yield Finding(
            "sampling", "warn", length, 'is the time in seconds? units = { t = "ms" } if it is not.'
        )
    if is_regular(t) or spread < MAX_JITTER:
        yield Finding("sampling", "pass", f"regular: {length}")
        return
    yield Finding(
        "sampling",
        "warn",
        f"the times jitter by {100 * spread:.2g} %: {length} on average, steps of "
        f"{1e3 * step.min():.3g} to {1e3 * step.max():.3g} ms, most of them {1e3 * period:.3g} ms",
        "didim resamples on the logged time; it is better to log the clock of the controller than "
        "that of the logging computer.",
    )


def gaps(data: CheckData) -> Iterator[Finding]:
    """Stretches without samples."""
    t = data.record.t
    step, period = np.diff(t), period_of(t)
    wide = np.flatnonzero(step > GAP_PERIODS * period)
    if not wide.size:
        yield Finding("gaps", "pass", "none")
        return
    longest, lost = wide[step[wide].argmax()], float(step[wide].sum()) / float(t[-1] - t[0])
    yield Finding(
        "gaps",
        graded(lost, 0.0, MAX_GAP_FRACTION),
        f"{wide.size} gap{'s'[: wide.size > 1]}, {100 * lost:.2g} % of the time; the longest, "
        f"{step[longest]:.3g} s, "
        f"is at t = {t[longest]:.6g} s",
        "cut the record there: two [[experiment]] tables with `between`.",
    )


def repeats(data: CheckData) -> Iterator[Finding]:
    """Samples that repeat the one before: a log that is faster than what it logs."""
    fraction = repeated_torques(data.record.tau)
    if not MAX_REPEATED_FRACTION < fraction < 1.0:
        return
    text = f"{100 * fraction:.0f} % of the torque samples repeat the one before"
    measured = data.rate * (1 - fraction)
    if data.rate / data.decimated <= measured:
        yield Finding("repeats", "pass", f"{text}; decimation goes below that rate")
        return
    yield Finding(
        "repeats",
        "warn",
        text,
        f"the torque is measured at about {measured:.3g} Hz only; decimate to below that rate.",
    )
