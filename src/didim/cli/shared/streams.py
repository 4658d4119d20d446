"""Standard streams that are closed, broken or full, as shells and services leave them."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Give closed standard streams somewhere to write to: the next file that is opened would get
    their number else, and be written into.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, or Python complains about it when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
