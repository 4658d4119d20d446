"""Threads: one for each core for kernels, which release the interpreter, and a single one for
linear algebra during an identification: the same numbers on every machine with the same processor,
and no threads that wait for each other on small matrices. Where many identifications run side by
side, each has a single thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_single_threaded: ContextVar[bool] = ContextVar("single_threaded", default=False)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_thread() -> Iterator[None]:
    """One thread for everything within the context: other processes keep the other cores busy, and
    work that is split between threads takes more processor time.
    """
    before = _single_threaded.set(True)
    try:
        with one_blas_thread():
            yield
    finally:
        _single_threaded.reset(before)


def is_single_threaded() -> bool:
    """Whether work must not be split between threads here."""
    return _single_threaded.get()


def kept_by_forks(lock: Any) -> None:
    """Let `os.fork` wait for a lock, as long as another thread compiles: a child has no thread that
    would release it. Locks that are held together are declared in the order from the inner one.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
        )


def side_by_side(one: Callable[[], T], other: Callable[[], S]) -> tuple[T, S]:
    """What both give, each on a thread."""
    if is_single_threaded():
        return one(), other()
    with ThreadPoolExecutor(1) as beside:
        found = beside.submit(other)
        return one(), found.result()


def on_threads(function: Callable[..., T], *arguments: Iterable[Any]) -> list[T]:
    """What `map` gives, each call on one of as many threads as there are cores."""
    if is_single_threaded():
        return list(map(function, *arguments))
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
