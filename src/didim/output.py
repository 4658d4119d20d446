"""Writing files: only when all of them are ready, each atomically, never over an existing file
unless this is allowed, and never over an input.

A staged file is named after its target and its own SHA-256, so that a reader who knows the hash
finds it if the process was killed before the last move. The next write removes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from didim.errors import InputError, shortened
from didim.locks import wait_for_lock

PAGE_ENDINGS = (".html", ".htm")
"""Of reports."""

OVERWRITE_HINT = "give another name, or overwrite=True"

LOCK_SECONDS = 5.0
"""How long a writer waits for another one in the same folder."""

OTHER_NAMES = 9
"""Names that are tried in each folder for a result whose own name is taken."""

_STAGED = re.compile(r"\.[0-9a-f]{16}\.didim")

State = tuple[int, int, int] | None
"""Inode, time of change and size of a file; None where there is none."""


class UnwritableError(InputError):
    """A file cannot be written there; another place may do."""


@dataclass(frozen=True)
class Seen:
    """Permission to write over files as they were when a command started, and not over what others
    have written since.
    """

    states: Mapping[Path, State]

    @classmethod
    def now(cls, files: Iterable[Path]) -> Seen:
        """The files as they are now."""
        return cls({file: _state(file) for file in files})


Overwrite = bool | Seen


def free(
    path: str | PathLike[str], overwrite: Overwrite = False, hint: str = OVERWRITE_HINT
) -> Path:
    """The path of a file that may be written: nothing is there yet, or it may be written over."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"The path of a file must be a text or a path, found {shortened(path)}.")
    if not isinstance(overwrite, bool | Seen):
        raise InputError(f"overwrite must be True or False, found {shortened(overwrite)}.")
    file = Path(path)
    try:
        if file.is_dir():
            raise UnwritableError(f"{file}: cannot be written: it is a folder.")
        if isinstance(overwrite, Seen) and _state(file) != overwrite.states.get(file):
            raise UnwritableError(f"{file} was written by another program meanwhile.")
        if os.path.lexists(file) and not overwrite:
            raise UnwritableError(f"{file} exists already; {hint}.")
        if not file.parent.is_dir():
            raise UnwritableError(f"{file}: cannot be written: there is no folder {file.parent}.")
        if not os.access(file.parent, os.W_OK | os.X_OK):
            raise UnwritableError(f"{file}: cannot be written: the folder is read-only.")
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise UnwritableError(f"{shortened(str(file))}: cannot be written: {problem}.") from None
    return file


def write(
    files: Mapping[Path, bytes], overwrite: Overwrite = False, hint: str = OVERWRITE_HINT
) -> None:
    """Write the files, each atomically and only after all of them are ready, in their order."""
    waiting: dict[Path, Path] = {}
    moved: list[Path] = []
    with _alone(files):
        for file in files:
            free(file, overwrite, hint)
        try:
            for file, content in files.items():
                waiting[file] = staged(file, hashlib.sha256(content).hexdigest())
                _stage(waiting[file], content)
            for file in files:
                if overwrite:
                    waiting[file].replace(file)
                else:
                    _create(waiting[file], file)
                moved.append(file)
        except (OSError, ValueError) as problem:
            if not overwrite:
                _remove(moved)
            if not overwrite or not moved:  # else a reader finds what waits by its hash
                _remove(waiting.values())
            reason = (
                "it was created meanwhile"
                if isinstance(problem, FileExistsError)
                else getattr(problem, "strerror", None) or problem
            )
            raise UnwritableError(f"{shortened(str(file))}: cannot be written: {reason}.") from None
        except BaseException:  # interrupted by the user
            if not moved:
                _remove(waiting.values())
            raise
        _remove(each for file in files for each in _left_over(file))


def write_elsewhere(write_to: Callable[[Path], Any], file: Path) -> Path | None:
    """Write a finished result that its own place refused under another name: beside it, in the
    current folder or in the one for temporary files; None where all of them refuse.
    """
    for folder in dict.fromkeys((file.parent, Path(), Path(tempfile.gettempdir()))):
        for k in range(1, OTHER_NAMES + 1):
            other = folder / f"{file.stem}-{k}{file.suffix}"
            with suppress(UnwritableError):
                write_to(other)
                return other
    return None


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse outputs that are, or lie in, what a command reads; `--force` does not help."""
    sources = [*inputs]
    for file in outputs:
        for source in sources:
            if _same(file, source):
                raise InputError(
                    f"{file}: is read by this command and would be lost; give the output another "
                    "name."
                )


def staged(file: Path, digest: str) -> Path:
    """Where content with the SHA-256 `digest` waits until it is moved to `file`."""
    return file.with_name(f".{file.name[:40]}.{digest[:16]}.didim")


def _same(file: Path, source: Path) -> bool:
    try:
        if file.exists() and source.exists() and file.samefile(source):
            return True
        place, origin = file.resolve(), source.resolve()
        return place == origin or (source.is_dir() and place.is_relative_to(origin))
    except (OSError, ValueError, RuntimeError):
        return False


def _state(file: Path) -> State:
    try:
        found = file.lstat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _stage(place: Path, content: bytes) -> None:
    """Write a staged file, with the rights of any new file."""
    place.unlink(missing_ok=True)
    with place.open("xb") as out:
        out.write(content)


def _create(ready: Path, file: Path) -> None:
    """Move a staged file to a name that nothing has."""
    try:
        os.link(ready, file)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(file):
            raise FileExistsError from None
        ready.replace(file)
    else:
        ready.unlink()


def _left_over(file: Path) -> list[Path]:
    """Staged files that a killed process left."""
    start = f".{file.name[:40]}"
    with suppress(OSError):
        return [
            each
            for each in file.parent.iterdir()
            if each.name.startswith(start) and _STAGED.fullmatch(each.name[len(start) :])
        ]
    return []


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink(missing_ok=True)


@contextmanager
def _alone(files: Iterable[Path]) -> Iterator[None]:
    """Hold the locks of the folders, where the system has locks: one writer at a time."""
    with ExitStack() as held:
        for folder in sorted({file.parent for file in files}):
            with suppress(OSError):  # Windows opens no folders
                handle = os.open(folder, os.O_RDONLY)
                held.callback(os.close, handle)
                wait_for_lock(handle, LOCK_SECONDS)
        yield
