"""One thread for linear algebra during an identification: the same numbers on every machine with
the same processor, and no threads that wait for each other on small matrices.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  # its own BLAS is found only once it is loaded
from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread within the context."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    """The BLAS libraries of NumPy and SciPy; looking for them takes 10 ms."""
    return ThreadpoolController()
