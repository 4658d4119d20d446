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
import sys
import tempfile
import warnings
from contextlib import suppress
from importlib.metadata import distributions, version
from pathlib import Path
from uuid import uuid4

import llvmlite
import platformdirs

from didim.jit import processor

log = logging.getLogger("didim")

KERNEL = ".kernel"
"""Ending of the files of kernels."""

_PACKAGE = Path(__file__).parents[1]
_DIGEST = hashlib.sha256().digest_size
_NOT_OF_CODE = {
    f"NUMBA_{name}" for name in ("CACHE_DIR", "NUM_THREADS", "THREADING_LAYER", "DISABLE_JIT")
}
"""Environment variables of Numba that do not change what it compiles."""

_VECTOR_MATHS = "icc-rt"
"""A package whose functions Numba's code calls where it is installed."""


def kernel_sources() -> list[Path]:
    """All files that hold kernels, in a fixed order."""
    return sorted(_PACKAGE.glob("**/kernels/**/*.py"))


@functools.cache
def source_key() -> str:
    """Hash of all sources of kernels and of `jit/`, the compiler and what it compiles for."""
    digest = hashlib.sha256()
    for source in [*sorted(Path(__file__).parent.glob("**/*.py")), *kernel_sources()]:
        digest.update(source.read_bytes())
    settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    parts = [
        sys.implementation.cache_tag,
        version("numba"),
        llvmlite.__version__,
        next((each.version for each in distributions(name=_VECTOR_MATHS)), None),
        sorted((k, v) for k, v in settings.items() if k not in _NOT_OF_CODE),
        processor.triple(),
        processor.name(),
        processor.features(),
    ]
    digest.update(repr(parts).encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled code: `$DIDIM_CACHE_DIR`, else the user's cache folder; None if it
    can neither be written nor has any code.
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
        if any(folder.glob(f"*{KERNEL}")):  # somebody with more rights has compiled
            return folder
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
        """Whether it was written, and can be read."""
        return self._file is not None and os.access(self._file, os.R_OK)

    def read(self) -> bytes | None:
        """None where there is none, or where it is not as it was written."""
        if self._file is None:
            return None
        try:
            content = self._file.read_bytes()
        except OSError:
            return None
        code = content[:-_DIGEST]
        if hashlib.sha256(code).digest() == content[-_DIGEST:]:
            return code
        log.warning("%s has another checksum; it is compiled anew", self._file)
        return None

    def write(self, code: bytes) -> None:
        """Whole or not at all, with the rights of any new file; a folder that cannot be written is
        left as it is.
        """
        if self._file is None:
            return
        ready = self._file.with_name(f"{uuid4().hex}.new")
        with suppress(OSError):
            try:
                ready.write_bytes(code + hashlib.sha256(code).digest())
                ready.replace(self._file)
            finally:  # of a full disk
                ready.unlink(missing_ok=True)
