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
        rounded = x[i] * _PER_QUARTER + _ROUND
        k = rounded - _ROUND
        quadrant = np.float64(rounded).view(np.int64) & 3
        r = ((x[i] - k * _QUARTER[0]) - k * _QUARTER[1]) - k * _QUARTER[2]
        z = r * r
        odd = r + r * z * (
            _S3 + z * (_S5 + z * (_S7 + z * (_S9 + z * (_S11 + z * (_S13 + z * _S15)))))
        )
        even = (
            1.0
            - 0.5 * z
            + z
            * z
            * (_C4 + z * (_C6 + z * (_C8 + z * (_C10 + z * (_C12 + z * (_C14 + z * _C16))))))
        )
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
        rounded = y * _PER_LOG_2 + _ROUND
        k = rounded - _ROUND
        r = (y - k * _LOG_2[0]) - k * _LOG_2[1]
        high = _E7 + r * (_E8 + r * (_E9 + r * (_E10 + r * (_E11 + r * (_E12 + r * _E13)))))
        series = r + r * r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * (_E6 + r * high)))))
        power = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
        t = power * series + (power - 1.0)
        x[i] = copysign(-t / (2.0 + t), x[i])
