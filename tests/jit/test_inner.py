"""Inner kernels become machine code in their entries only, and other code of Numba's is left
alone.
"""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest
from numba.core import types

from didim.dynamics.kernels.vectors import cross, dot
from didim.jit.inner import inner_kernels_of

VECTOR = types.UniTuple(types.float64, 3)


def entry(v: tuple[float, float, float]) -> float:
    return dot(v, v)


def test_an_entry_runs_and_its_inner_kernel_refuses_python():
    compiled = numba.njit(_nrt=False)(entry)
    with inner_kernels_of(entry.__qualname__):
        compiled.compile((VECTOR,))
    assert compiled((1.0, 2.0, 3.0)) == 14.0
    for inner in (dot, cross):  # compiled within an entry, and by this call
        with pytest.raises(TypeError):
            inner((1.0, 2.0, 3.0), (1.0, 2.0, 3.0))


def test_functions_of_others_compile_as_ever():
    @numba.njit
    def other(x):
        return x + 1.0

    found = []
    with inner_kernels_of("an entry"):
        assert other(1.0) == 2.0
        thread = threading.Thread(target=lambda: found.append(numba.njit(entry)((1.0, 2.0, 2.0))))
        thread.start()
        thread.join()
    assert found == [9.0]


def test_memory_that_numba_manages_works_after_an_entry():
    @numba.njit
    def squares(n):
        return np.arange(n) ** 2

    assert squares(4).tolist() == [0, 1, 4, 9]
