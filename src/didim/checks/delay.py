"""Whether the log has the torque later or earlier than the positions: the shift at which the
torque fits the measured motion best.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from didim.checks.data import CheckData
from didim.checks.finding import Finding
from didim.signals.states import States

Array = NDArray[np.float64]

MAX_DELAY = 0.1
"""s that are searched, to both sides."""

MAX_SAMPLES, MAX_SHIFTS = 2000, 31
"""Samples and shifts that are tried, at most, in one pass."""

MIN_SAMPLES_OFF = 1.0
"""Samples by which the torque must be shifted before it is said."""

MIN_IMPROVEMENT = 0.1
"""Fraction by which the shift must reduce the residual before it is said."""


def torque_delay(data: CheckData) -> Iterator[Finding]:
    """The shift between torque and positions, each joint's equations fitted alone, so that gains do
    not matter.
    """
    found = _fits(data)
    if found is None:
        return
    seconds, before, after = found
    shift = f"{1e3 * abs(seconds):.2g} ms {'late' if seconds > 0 else 'early'}"
    figures = f"residual {100 * before:.3g} % as it is, {100 * after:.3g} % without that"
    off = abs(seconds) * data.rate
    if off > MIN_SAMPLES_OFF and after < (1 - MIN_IMPROVEMENT) * before:
        yield Finding(
            "torque delay",
            "warn",
            f"the torque is logged {shift} of the positions ({figures})",
            f"add {seconds:.3g} to torque_delay of the experiment (0 if it has none), and check "
            "again.",
        )
    else:
        yield Finding(
            "torque delay",
            "pass",
            f"torque and positions agree best at {shift}: not clear"
            if off > MIN_SAMPLES_OFF
            else "torque and positions are in time, to less than a sample",
        )


def _fits(data: CheckData) -> tuple[float, float, float] | None:
    """The best shift, s, and the residuals without and with it; None where nothing can be said."""
    most = int(np.ceil(MAX_DELAY * data.rate))
    count = data.even.t.size
    inner = np.arange(count)[data.inner]
    inner = inner[(inner >= most) & (inner < count - most)]
    if (
        data.states is None
        or not data.is_measured
        or inner.size < 10 * len(data.model.base.parameters)
    ):
        return None
    chosen = inner[:: -(-inner.size // MAX_SAMPLES)]
    states, base, tau = data.states, data.model.base, data.even_tau
    some = States(states.q[chosen], states.dq[chosen], states.ddq[chosen])
    W = base.regressor(some.q, some.dq, some.ddq, None, base.no_signals(len(some.q)))
    moving = [j for j in range(tau.shape[1]) if np.ptp(tau[:, j]) > 0 and np.ptp(some.q[:, j]) > 0]
    if not moving:
        return None
    spaces = {j: _span(W[:, j]) for j in moving}

    def residual(shift: int) -> float:
        """Of the torque that many samples later, over its size, rms over the joints."""
        parts = []
        for j, basis in spaces.items():
            y = tau[chosen + shift, j]
            parts.append(1.0 - np.sum((basis.T @ y) ** 2) / np.sum(y**2))
        return float(np.sqrt(max(0.0, np.mean(parts))))

    step = max(1, 2 * most // MAX_SHIFTS)
    tried = {shift: residual(shift) for shift in {0, *range(-most, most + 1, step)}}
    best = min(tried, key=lambda shift: tried[shift])
    tried |= {
        shift: residual(shift)
        for shift in range(max(-most, best - step), min(most, best + step) + 1)
    }
    best = min(tried, key=lambda shift: (tried[shift], abs(shift)))
    return (best + _vertex(tried, best)) / data.rate, tried[0], tried[best]


def _span(W: Array) -> Array:
    """(K, r) an orthonormal basis of the columns of W (K, b)."""
    left, size, _ = np.linalg.svd(W, full_matrices=False)
    return np.asarray(left[:, size > 1e-9 * size[0]])


def _vertex(tried: dict[int, float], best: int) -> float:
    """Where the parabola of squares through the best and its neighbours is lowest, from the
    best.
    """
    if best - 1 not in tried or best + 1 not in tried:
        return 0.0
    left, middle, right = (tried[best + k] ** 2 for k in (-1, 0, 1))
    curvature = left - 2 * middle + right
    return float(np.clip(0.5 * (left - right) / curvature, -0.5, 0.5)) if curvature > 0 else 0.0
