"""Writing files: only when all of them are ready, each atomically, and never over an existing file
unless this is allowed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from didim.errors import InputError, shortened

OVERWRITE_HINT = "give another name, or overwrite=True"


def free(path: str | PathLike[str], overwrite: bool = False, hint: str = OVERWRITE_HINT) -> Path:
    """The path of a file that may be written: nothing is there yet, or it may be written over."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"The path of a file must be a text or a path, found {shortened(path)}.")
    if not isinstance(overwrite, bool):
        raise InputError(f"overwrite must be True or False, found {shortened(overwrite)}.")
    file = Path(path)
    try:
        if file.is_dir():
            raise InputError(f"{file}: cannot be written: it is a folder.")
        if os.path.lexists(file) and not overwrite:
            raise InputError(f"{file} exists already; {hint}.")
        if not file.parent.is_dir():
            raise InputError(f"{file}: cannot be written: there is no folder {file.parent}.")
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{shortened(str(file))}: cannot be written: {problem}.") from None
    return file


def write(files: Mapping[Path, bytes], overwrite: bool = False, hint: str = OVERWRITE_HINT) -> None:
    """Write the files, each atomically and only after all of them are ready."""
    for file in files:
        free(file, overwrite, hint)
    staged: list[tuple[Path, Path]] = []
    try:
        for file, content in files.items():
            staged.append((_staged(file, content), file))
        for ready, file in staged:
            ready.replace(file)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{shortened(str(file))}: cannot be written: "
            f"{getattr(problem, 'strerror', None) or problem}."
        ) from None
    finally:
        for ready, _ in staged:
            ready.unlink(missing_ok=True)


def _staged(file: Path, content: bytes) -> Path:
    """A temporary file in the same folder, ready to be renamed."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
