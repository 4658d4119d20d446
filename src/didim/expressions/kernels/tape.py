"""The straight-line code of expressions, run row by row over one file of registers.

A row of `code` is (operator, destination, left, right): registers[destination] = left operator
right; operators of one argument have it as left and as right. What is not defined is infinite or
not a number, as in NumPy, never an exception.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.jit.compiled import entry, kernel, shared
from didim.jit.function_pointers import call_int64
from didim.jit.types import float64, int64, void

ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, POWER, SIN, COS = range(8)
EXP, LOG, SQRT, TANH, ABSOLUTE, SIGN, MINIMUM, MAXIMUM = range(8, 16)


@shared
def run_tape(code: Any, registers: Any, first: int, last: int) -> None:
    """Run the rows first ... last - 1 of the code (I, 4) on the registers (R,), in place."""
    for i in range(first, last):
        operator = code[i, 0]
        x, y = registers[code[i, 2]], registers[code[i, 3]]
        if operator == ADD:
            result = x + y
        elif operator == SUBTRACT:
            result = x - y
        elif operator == MULTIPLY:
            result = x * y
        elif operator == DIVIDE:
            result = x / y
        elif operator == NEGATE:
            result = -x
        elif operator == POWER:
            result = x**y
        elif operator == SIN:
            result = np.sin(x)
        elif operator == COS:
            result = np.cos(x)
        elif operator == EXP:
            result = np.exp(x)
        elif operator == LOG:
            result = np.log(x)
        elif operator == SQRT:
            result = np.sqrt(x)
        elif operator == TANH:
            result = np.tanh(x)
        elif operator == ABSOLUTE:
            result = abs(x)
        elif operator == SIGN:
            result = 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)
        elif operator == MINIMUM:
            result = x if x < y or x != x else y
        else:
            result = x if x > y or x != x else y
        registers[code[i, 1]] = result


@kernel
def compute(address: int, code: Any, registers: Any, last: int) -> None:
    """Fill the registers (R,) by the machine code at an address, or where that is 0 by the rows
    0 ... last - 1.
    """
    if address != 0:
        call_int64(address, (registers,))
    else:
        run_tape(code, registers, 0, last)


@entry(
    void(
        int64,
        int64[:, ::1],
        int64,
        float64[::1],
        int64[::1],
        float64[:, ::1],
        int64[::1],
        float64[:, ::1],
    )
)
def compute_samples(
    address: int,
    code: Any,
    last: int,
    registers: Any,
    inputs: Any,
    samples: Any,
    outputs: Any,
    results: Any,
) -> None:
    """For each row of samples (N, inputs): put it into its registers, compute, and copy the
    registers of the outputs (K,) to the results (N, K).
    """
    for t in range(samples.shape[0]):
        for k in range(inputs.size):
            registers[inputs[k]] = samples[t, k]
        compute(address, code, registers, last)
        for k in range(outputs.size):
            results[t, k] = registers[outputs[k]]
