"""The closed loop with error control, for what is smooth: a continuous law or a given torque, and
smooth friction.

Dormand and Prince's method of order 5(4), coefficients from SciPy, with its free interpolant of
order 4 for the outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import RK45

from didim.jit.compiled import entry, kernel
from didim.jit.function_pointers import call_int64
from didim.jit.types import float64, int64
from didim.signals.kernels.piecewise_cubic import TIME_TOLERANCE
from didim.simulation.kernels.fixed import Output, output_type, record
from didim.simulation.kernels.plant import COMPLETED, OK, Loop, read_loop, write_status

_A = np.vstack([np.hstack([RK45.A, np.zeros((6, 1))]), RK45.B])
_C = np.append(RK45.C, 1.0)
_E, _P = np.array(RK45.E), np.array(RK45.P)
_vector = float64[::1]
_SMALLEST_STEP = 1e-10
"""A step below this, in s, means that the solution cannot be followed."""


@kernel
def stages(
    plant: Loop, plant_address: int, t: float, y: Any, size: int, h: float, first: int
) -> int:
    """Rates from `first` to 6 into plant.stage, the end of the step into stage 7; the status of
    `rates`.
    """
    K, trial = plant.stage, plant.stage[7]
    for s in range(first, 7):
        for k in range(size):
            change = 0.0
            for i in range(s):
                change += _A[s, i] * K[i, k]
            trial[k] = y[k] + h * change
        status = call_int64(plant.code.rates, (plant_address, t + _C[s] * h, trial, h, K[s]))
        if status != OK:
            return status
    return OK


@kernel
def error_of(K: Any, y: Any, size: int, h: float, relative: float, absolute: float) -> float:
    """Estimated error of the step over what is allowed, root mean square over the state."""
    total = 0.0
    for k in range(size):
        error = 0.0
        for i in range(7):
            error += _E[i] * K[i, k]
        total += (h * error / (absolute + relative * max(abs(y[k]), abs(K[7, k])))) ** 2
    return np.sqrt(total / size)


@kernel
def interpolate(K: Any, y: Any, size: int, h: float, theta: float) -> None:
    """The state at fraction theta of the step, into K[8]."""
    for k in range(size):
        change = 0.0
        for i in range(7):
            weight = 0.0
            for p in range(3, -1, -1):
                weight = (weight + _P[i, p]) * theta
            change += weight * K[i, k]
        K[8, k] = y[k] + h * change


@entry(
    int64(
        int64,
        float64,
        float64,
        int64,
        float64[::1],
        float64,
        float64,
        int64,
        output_type,
        float64[::1],
        int64[::1],
        float64[::1],
    )
)
def run_adaptive(
    plant_address: int,
    start: float,
    end: float,
    size: int,
    y: Any,
    relative: float,
    absolute: float,
    row: int,
    out: Output,
    step: Any,
    trouble: Any,
    when: Any,
) -> int:
    """Run from start to end from state y, first trying step[0]; returns the next output row,
    `trouble` as in `run_fixed`.
    """
    plant = read_loop(plant_address)
    K = plant.stage
    t, h, first = start, step[0], 0
    trouble[0], status = COMPLETED, OK
    while t < end - TIME_TOLERANCE and row < out.t.size and status == OK:
        h = min(h, end - t)
        when[0] = t
        status = stages(plant, plant_address, t, y, size, h, first)
        error = error_of(K, y, size, h, relative, absolute) if status == OK else np.inf
        if not error <= 1.0:
            h *= max(0.2, 0.9 * error**-0.2)
            if h > _SMALLEST_STEP:
                first, status = (0 if first == 0 and status != OK else 1), OK
            elif status == OK:
                status = -2
            continue
        while row < out.t.size and out.t[row] <= t + h + TIME_TOLERANCE and status == OK:
            interpolate(K, y, size, h, min(1.0, (out.t[row] - t) / h))
            status = call_int64(plant.code.rates, (plant_address, out.t[row], K[8], h, K[9]))
            if status == OK:
                record(plant, K[8], row, out)
                row += 1
        for k in range(size):
            y[k] = K[7, k]
            K[0, k] = K[6, k]
        first = 1
        t += h
        h *= min(5.0, 0.9 * max(error, 1e-10) ** -0.2)
        step[0] = h
    write_status(status, trouble)
    return row
