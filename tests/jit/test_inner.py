"""Inner kernels become machine code in their entries only, and other code of Numba's is left
alone.
"""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest

from didim.dynamics.kernels.vectors import cross, dot
from didim.jit.called import CalledWithWords
from didim.jit.compiler.inner import inner_kernels_of
from didim.jit.compiler.kernels import entry_code
from didim.jit.processor import LoadedCode
from didim.jit.types import float64


def entry(x: float) -> float:
    v = (x, 2.0, 2.0)
    return dot(v, v)


def test_an_entry_runs_and_its_inner_kernel_refuses_python():
    signature = float64(float64)
    code, alone = entry_code(entry, signature, "test")
    loaded = LoadedCode(code, "test")
    assert alone
    assert CalledWithWords(loaded.address, signature, entry)((1.0,)) == 9.0
    for inner in (dot, cross):  # compiled and not compiled
        with pytest.raises(TypeError, match="is called by kernels only"):
            inner((1.0, 2.0, 3.0), (1.0, 2.0, 3.0))


def test_functions_of_others_compile_as_ever():
    @numba.njit
    def other(x):
        return x + 1.0

    found = []
    with inner_kernels_of("an entry"):
        assert other(1.0) == 2.0
        thread = threading.Thread(target=lambda: found.append(numba.njit(entry)(1.0)))
        thread.start()
        thread.join()
    assert found == [9.0]


def test_memory_that_numba_manages_works_after_an_entry():
    @numba.njit
    def squares(n):
        return np.arange(n) ** 2

    assert squares(4).tolist() == [0, 1, 4, 9]
