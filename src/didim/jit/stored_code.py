"""Machine code of programs in the cache folder: what was compiled once on this machine is read.

A file is named by the program itself, the processor and the compiler, so that none can be stale.
The folder keeps the files that were used last.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from didim.jit.cache import CodeFile, cache_folder

SUFFIX = ".code"
MOST_FILES = 200
"""Files that are kept: some thirty robots."""


class StoredCode(CodeFile):
    """The code of one program, whose `parts` are its text and what compiles it."""

    def __init__(self, *parts: str) -> None:
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest() + SUFFIX
        self._folder = cache_folder()
        super().__init__(self._folder, name)

    def read(self) -> bytes | None:
        """The code, which is used again by that."""
        code = super().read()
        if code is not None and self._file is not None:
            with suppress(OSError):  # somebody else's file
                os.utime(self._file)
        return code

    def write(self, code: bytes) -> None:
        """In place of the files that were used longest ago, where they are many."""
        super().write(code)
        files = [] if self._folder is None else list(self._folder.glob(f"*{SUFFIX}"))
        if len(files) > MOST_FILES:
            for file in sorted(files, key=_last_used)[:-MOST_FILES]:
                with suppress(OSError):
                    file.unlink()


def _last_used(file: Path) -> float:
    """When; the beginning of time where another process has removed it."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
