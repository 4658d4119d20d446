"""Threads: one for each core for kernels, which release the interpreter, and a single one for
linear algebra during an identification: the same numbers on every machine with the same processor,
and no threads that wait for each other on small matrices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_threads(function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """What `map` gives, each call on one of as many threads as there are cores."""
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(function, *arguments))


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread within the context."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> Any:
    """The BLAS libraries of NumPy and SciPy; looking for them takes 10 ms."""
    import scipy.linalg  # noqa: F401  # its own BLAS is found only once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
