"""Pictures and reports under default names: they replace earlier ones of didim, never other
files.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from didim.errors import InputError
from didim.output import Overwrite, write

PICTURE, REPORT = "didim picture", '<meta name="generator" content="didim">'
"""Marks near the beginning of a file that didim wrote."""

_KINDS = {".png": ("pictures are", PICTURE), ".html": ("reports are", REPORT)}


def check_free(file: Path, ending: str = ".png", force: bool = False) -> Path:
    """Refuse a name that another file has, before any work is done; what didim made may be made
    again.
    """
    kind, mark = _KINDS[ending]
    if file.suffix.lower() != ending:
        raise InputError(f"{file}: {kind} written as {ending}.")
    if file.is_dir():
        raise InputError(f"{file}: cannot be written: it is a folder.")
    if file.exists() and not force and not _begins_with(file, mark):
        raise InputError(
            f"{file} exists already and was not made by didim; give another name, or --force."
        )
    return file


def _begins_with(file: Path, mark: str) -> bool:
    with file.open("rb") as content:
        return mark.encode() in content.read(4096)


def write_made(file: Path, content: bytes, overwrite: Overwrite = True) -> Path:
    """Write a file that `check_free` allowed, with the folders above it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{file}: cannot be written: {problem.strerror or problem}.") from None
    write({file: content}, overwrite)
    return file


def write_picture(axes: Any, file: Path, overwrite: Overwrite = True) -> Path:
    """The figure of these axes as a PNG that says where it comes from."""
    drawn = io.BytesIO()
    axes.figure.savefig(drawn, dpi=110, format="png", metadata={"Software": PICTURE})
    return write_made(file, drawn.getvalue(), overwrite)
