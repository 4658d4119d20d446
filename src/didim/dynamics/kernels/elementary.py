"""Sine, cosine and tanh of many numbers at once, without calls or branches, so that the compiler
takes eight at a time.

Both reduce their argument by a multiple k of a constant that is cut into parts of 33 bits, whose
products with k are exact, and sum a Taylor series over what is left: sines are right to 2.1e-16,
tanh to three units of its last digit. The rounding to k is an addition of 1.5 2^52, which leaves k
in the last bits. Arrays are padded to a multiple of LANES.
"""

from __future__ import annotations

from math import copysign, factorial, log, pi
from typing import Any

import numpy as np

from didim.jit.compiled import shared
from didim.jit.lanes import padded_lanes
from didim.jit.multiply_add import multiply_add as fma

LANES = 8
MIN_VECTOR_LENGTH = 3
"""Shorter arrays are computed by the library, one number at a time."""
LARGEST_SERIES_ANGLE = 1e5
"""rad: a larger angle is computed by the library."""

_ROUND = 1.5 * 2.0**52
_QUARTER = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)
_LOG_2 = (float.fromhex("0x1.62e42fefp-1"), float.fromhex("0x1.473de6af278edp-34"))
_S3, _S5, _S7, _S9, _S11, _S13, _S15 = ((-1) ** (k // 2) / factorial(k) for k in range(3, 16, 2))
_C4, _C6, _C8, _C10, _C12, _C14, _C16 = ((-1) ** (k // 2) / factorial(k) for k in range(4, 17, 2))
_E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9, _E10, _E11, _E12, _E13 = (
    1 / factorial(k) for k in range(2, 14)
)
_PER_QUARTER, _PER_LOG_2 = 2 / pi, 1 / log(2)


def padded(count: int) -> int:
    """The next multiple of LANES, at least one."""
    return padded_lanes(count, LANES)


@shared
def sines(x: Any, count: int, cos: Any, sin: Any) -> None:
    """cos(x) and sin(x) of `count` angles in rad: x = k pi/2 + r, and k mod 4 tells which series,
    and which sign, is which.
    """
    if count < MIN_VECTOR_LENGTH:
        for i in range(count):
            cos[i], sin[i] = np.cos(x[i]), np.sin(x[i])
        return
    for i in range(x.size):
        rounded = fma(x[i], _PER_QUARTER, _ROUND)
        k = rounded - _ROUND
        quadrant = np.float64(rounded).view(np.int64) & 3
        r = fma(-k, _QUARTER[2], fma(-k, _QUARTER[1], fma(-k, _QUARTER[0], x[i])))
        z = r * r
        odd_high = fma(z, fma(z, fma(z, _S15, _S13), _S11), _S9)
        odd = fma(r * z, fma(z, fma(z, fma(z, odd_high, _S7), _S5), _S3), r)
        even_high = fma(z, fma(z, fma(z, _C16, _C14), _C12), _C10)
        even = fma(z * z, fma(z, fma(z, fma(z, even_high, _C8), _C6), _C4), fma(-0.5, z, 1.0))
        swapped = (quadrant & 1) != 0
        s, c = (even if swapped else odd), (odd if swapped else even)
        sin[i] = -s if quadrant >= 2 else s
        cos[i] = -c if quadrant == 1 or quadrant == 2 else c
    for i in range(count):
        if abs(x[i]) > LARGEST_SERIES_ANGLE:
            cos[i], sin[i] = np.cos(x[i]), np.sin(x[i])


@shared
def tanhs(x: Any) -> None:
    """x <- tanh(x) = -t / (2 + t) with t = exp(-2 |x|) - 1 and the sign of x; -2 |x| = k log 2 +
    r.
    """
    for i in range(x.size):
        y = max(-2.0 * abs(x[i]), -80.0)
        rounded = fma(y, _PER_LOG_2, _ROUND)
        k = rounded - _ROUND
        r = fma(-k, _LOG_2[1], fma(-k, _LOG_2[0], y))
        high = fma(r, fma(r, fma(r, fma(r, fma(r, fma(r, _E13, _E12), _E11), _E10), _E9), _E8), _E7)
        low = fma(r, fma(r, fma(r, fma(r, fma(r, high, _E6), _E5), _E4), _E3), _E2)
        series = fma(r * r, low, r)
        power = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
        t = fma(power, series, power - 1.0)
        x[i] = copysign(-t / (2.0 + t), x[i])
