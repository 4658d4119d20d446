"""The machine code of a tape: a function int64 f(double *registers) of its own for the values, and
one for all outputs.

The constants are read from the registers, the literals stand in the code: a tape is compiled once,
whatever the constants are. With DIDIM_GENERIC=1 in the environment, no tape has code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from didim.expressions.kernels.tape import compute_samples
from didim.expressions.nodes import BINARY
from didim.expressions.tape import OPERATORS, Tape
from didim.jit.machine_code import MachineCode, Program, generic, machine_code
from didim.jit.statements import Statement, Symbol

MOST_ROWS = 5000
"""Longer tapes are left to the kernel: compiling them takes too long."""

_SYMBOLS = {number: operator for operator, number in OPERATORS.items()} | {OPERATORS["neg"]: "-"}
_OF_TWO = {OPERATORS[operator] for operator in BINARY}


class TapeCode(NamedTuple):
    """Machine code int64 f(double *registers), which writes the registers of outputs alone."""

    first: MachineCode
    """Computes the outputs that belong to `values`."""
    whole: MachineCode
    """Computes all outputs."""


def tape_code(tape: Tape) -> TapeCode | None:
    """The code of a tape, compiled once for the same contents; None where the kernel does its work:
    it has more than MOST_ROWS rows, or DIDIM_GENERIC is set.
    """
    if len(tape.code) > MOST_ROWS or generic():
        return None
    settable = len(tape.inputs) + len(tape.constants)
    literals = tape.registers[settable : tape.registers.size - len(tape.code)]
    return _compiled(
        tape.code.tobytes(),
        literals.tobytes(),
        tape.outputs.tobytes(),
        settable,
        tape.first,
        tape.value_count,
    )


def computed(
    tape: Tape, samples: np.ndarray, constants: Mapping[str, float] | None = None
) -> np.ndarray:
    """All outputs (N, K) for samples (N, inputs) of the inputs, in their order, by the machine code
    of the tape or by the kernel.
    """
    registers = tape.registers.copy()
    for name, value in (constants or {}).items():
        registers[tape.constants[name]] = value
    samples = np.ascontiguousarray(samples, float).reshape(-1, len(tape.inputs))
    results = np.empty((len(samples), tape.outputs.size))
    own = tape_code(tape)
    compute_samples(
        own.whole.address if own else 0,
        tape.code,
        len(tape.code),
        registers,
        np.array(list(tape.inputs.values()), np.int64),
        samples,
        tape.outputs,
        results,
    )
    return results


@lru_cache(maxsize=32)
def _compiled(
    rows: bytes, numbers: bytes, results: bytes, settable: int, first: int, value_count: int
) -> TapeCode:
    code = np.frombuffer(rows, np.int64).reshape(-1, 4)
    outputs = np.frombuffer(results, np.int64)
    symbols: dict[int, Symbol] = {k: f"registers[{k}]" for k in range(settable)}
    symbols |= {settable + k: float(x) for k, x in enumerate(np.frombuffer(numbers))}
    symbols |= {int(row[1]): f"x{row[1]}" for row in code}
    whole = _program(code, outputs, symbols)
    if first == len(code) and value_count == outputs.size:
        same = machine_code(whole)
        return TapeCode(same, same)
    return TapeCode(
        machine_code(_program(code[:first], outputs[:value_count], symbols)), machine_code(whole)
    )


def _program(code: np.ndarray, outputs: np.ndarray, symbols: dict[int, Symbol]) -> Program:
    """The rows as statements; registers that no row computes are outputs already."""
    statements = []
    for operator, destination, left, right in code.tolist():
        operands = (symbols[left] if operator in _OF_TWO else None, symbols[right])
        statements.append(Statement(str(symbols[destination]), _SYMBOLS[operator], *operands))
    computed = sorted(set(outputs.tolist()) & set(code[:, 1].tolist()))
    return Program(
        ("registers",), statements, [(f"registers[{k}]", symbols[k]) for k in computed], [], 0.0
    )
