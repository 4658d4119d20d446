"""A signal as a piecewise cubic on its own clock, read at any time from inside a compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

from didim.jit.compiled import kernel
from didim.jit.types import float64, record_type

TIME_TOLERANCE = 1e-9
"""Times closer than this (s) are the same instant: clocks k/rate and logged times differ in their
last digits.
"""


class PiecewiseCubic(NamedTuple):
    """m cubics of n signals and of their rates and accelerations, as a reference has them.

    Cubic i holds on [time[i], time[i + 1]]: value = ((c3 u + c2) u + c1) u + c0 with u = t -
    time[i].
    """

    time: Any  # (m + 1,) s, rising
    value: Any  # (m, n, 4) c0 c1 c2 c3
    rate: Any  # (m, n, 4)
    acceleration: Any  # (m, n, 4)


piecewise_cubic_type = record_type(PiecewiseCubic, float64[::1], *[float64[:, :, ::1]] * 3)


@kernel
def find(time: Any, t: float, guess: int) -> int:
    """The interval that holds t, searched from `guess`: forward in a loop that goes forward, else
    by walking back.
    """
    last = time.size - 2
    i = min(max(guess, 0), last)
    while i < last and t >= time[i + 1] - TIME_TOLERANCE:
        i += 1
    while i > 0 and t < time[i] - TIME_TOLERANCE:
        i -= 1
    return i


@kernel
def read(coefficients: Any, time: Any, i: int, t: float, out: Any) -> None:
    """The signals of cubic i at time t, held beyond the ends, into out (n,)."""
    u = min(max(t, time[0]), time[time.size - 1]) - time[i]
    for j in range(out.size):
        out[j] = (
            (coefficients[i, j, 3] * u + coefficients[i, j, 2]) * u + coefficients[i, j, 1]
        ) * u + coefficients[i, j, 0]


@kernel
def slope(coefficients: Any, time: Any, i: int, t: float, out: Any) -> None:
    """Rates of change of the signals of cubic i at time t, zero beyond the ends, into out (n,)."""
    inside = time[0] <= t <= time[time.size - 1]
    u = t - time[i]
    for j in range(out.size):
        out[j] = (
            (3.0 * coefficients[i, j, 3] * u + 2.0 * coefficients[i, j, 2]) * u
            + coefficients[i, j, 1]
            if inside
            else 0.0
        )
