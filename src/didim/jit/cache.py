"""The folder of compiled code, and its files: whole, or compiled anew.

The folder is keyed by all that code is compiled from and for, so that any edit is seen by every
caller. Each file ends with its checksum, since running machine code with a flipped bit ends the
process, or computes wrongly.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import tempfile
import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import llvmlite
import platformdirs

from didim.jit import processor

log = logging.getLogger("didim")

_PACKAGE = Path(__file__).parents[1]
_DIGEST = hashlib.sha256().digest_size
_OF_COMPILER = [
    f"NUMBA_{name}"
    for name in (
        "OPT",
        "LOOP_VECTORIZE",
        "SLP_VECTORIZE",
        "CPU_NAME",
        "CPU_FEATURES",
        "DISABLE_INTEL_SVML",
    )
]
"""Environment variables that change what Numba compiles."""


def kernel_sources() -> list[Path]:
    """All files that hold kernels, in a fixed order."""
    return sorted(_PACKAGE.glob("**/kernels/**/*.py"))


@functools.cache
def source_key() -> str:
    """Hash of all sources of kernels and of `jit/`, the compiler and the processor."""
    digest = hashlib.sha256()
    for source in [*sorted(Path(__file__).parent.glob("**/*.py")), *kernel_sources()]:
        digest.update(source.read_bytes())
    compiler = version("numba"), llvmlite.__version__, *(os.environ.get(k) for k in _OF_COMPILER)
    digest.update(f"{compiler} {processor.name()} {processor.features()}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code: `$DIDIM_CACHE_DIR`, else the user's cache folder; None if it
    cannot be written.
    """
    root = Path(
        os.environ.get("DIDIM_CACHE_DIR") or platformdirs.user_cache_path("didim", appauthor=False)
    )
    folder = root / source_key()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        warnings.warn(
            f"didim cannot write its cache of compiled kernels ({problem}); every run will compile "
            "anew. "
            "Set DIDIM_CACHE_DIR to a folder that can be written.",
            RuntimeWarning,
            stacklevel=4,
        )
        return None
    return folder


class CodeFile:
    """The file of this name in a cache folder; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self._file = None if folder is None else folder / name

    def exists(self) -> bool:
        """Whether it was written."""
        return self._file is not None and self._file.exists()

    def read(self) -> bytes | None:
        """None where there is none, or where it is not as it was written."""
        if self._file is None:
            return None
        try:
            content = self._file.read_bytes()
            os.utime(self._file)
        except OSError:
            return None
        code = content[:-_DIGEST]
        if hashlib.sha256(code).digest() == content[-_DIGEST:]:
            return code
        log.warning("%s has another checksum; it is compiled anew", self._file)
        return None

    def write(self, code: bytes) -> None:
        """Whole or not at all; a folder that cannot be written is left as it is."""
        if self._file is None:
            return
        with suppress(OSError):
            handle, name = tempfile.mkstemp(dir=self._file.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(code + hashlib.sha256(code).digest())
                Path(name).replace(self._file)
            finally:  # of a full disk
                Path(name).unlink(missing_ok=True)
