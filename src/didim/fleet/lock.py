"""A file that one process of a machine locks at a time, where the system has locks. The lock ends
with the process, however that ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is missing; where it cannot be, of none."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT)
    except OSError:
        yield
        return
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_left_behind(file: Path) -> bool:
    """Whether the process that locked the file has ended; False where that cannot be known."""
    if fcntl is None:
        return False
    try:
        handle = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
