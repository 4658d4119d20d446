"""Locks of files and folders between the processes of a machine, where the system and the file
system have them; elsewhere, work goes on without. A lock ends with its process, however that ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FRESH_SECONDS = 60.0
"""Age from which a file that nobody has locked is left behind: a younger one may be locked next."""


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is missing; where it cannot be, of none."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT)
    except OSError:
        yield
        return
    try:
        wait_for_lock(handle)
        yield
    finally:
        os.close(handle)


def wait_for_lock(handle: int, seconds: float | None = None) -> None:
    """Wait for the lock of an open file, so long at most: its holder may be suspended."""
    if fcntl is None:
        return
    with suppress(OSError):  # of a file system without locks
        if seconds is None:
            fcntl.flock(handle, fcntl.LOCK_EX)
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.01)


def is_left_behind(file: Path) -> bool:
    """Whether the process that locked the file has ended; False where that cannot be known."""
    if fcntl is None:
        return False
    try:
        handle = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        if time.time() - os.fstat(handle).st_mtime < FRESH_SECONDS:
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
