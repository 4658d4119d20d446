"""Machine code of programs in the cache folder: what was compiled once on this machine is read.

A file is named by the program itself, the processor and the compiler, so that none can be stale,
and ends with its checksum. The folder keeps the files that were used last.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from didim.jit.compiled import cache_folder

SUFFIX = ".code"
MOST_FILES = 200
"""Files that are kept: some thirty robots."""

_DIGEST = hashlib.sha256().digest_size


class StoredCode:
    """The code of one program, whose `parts` are its text and what compiles it."""

    def __init__(self, *parts: str) -> None:
        folder = cache_folder()
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest() + SUFFIX
        self.file = None if folder is None else folder / name

    def read(self) -> bytes | None:
        """None where there is none, or where it is not as it was written."""
        if self.file is None:
            return None
        try:
            content = self.file.read_bytes()
            os.utime(self.file)
        except OSError:
            return None
        code = content[:-_DIGEST]
        return code if hashlib.sha256(code).digest() == content[-_DIGEST:] else None

    def write(self, code: bytes) -> None:
        """Whole or not at all; a folder that cannot be written is left as it is."""
        if self.file is None:
            return
        with suppress(OSError):
            handle, name = tempfile.mkstemp(dir=self.file.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(code + hashlib.sha256(code).digest())
            Path(name).replace(self.file)
            _leave_newest(self.file.parent)


def _leave_newest(folder: Path) -> None:
    """Remove the files that were used longest ago, where there are more than MOST_FILES."""
    files = list(folder.glob(f"*{SUFFIX}"))
    if len(files) > MOST_FILES:
        for file in sorted(files, key=lambda each: each.stat().st_mtime)[:-MOST_FILES]:
            file.unlink(missing_ok=True)
