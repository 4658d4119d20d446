"""Paths in a study file: relative to the file, with `${DIDIM_DATA}` and nothing else expanded."""

from __future__ import annotations

import os
from pathlib import Path

from didim.errors import InputError, shortened

VARIABLE = "DIDIM_DATA"
DEFAULT = Path("..") / "shared" / "data"
"""Where records lie if the variable is not set, seen from the current folder, the study's, or the
one above that.
"""


def resolved(text: str, folder: Path, key: str) -> Path:
    """The path that a study means by a text; `folder` is that of the study, `key` is named in
    errors.
    """
    mark = "${" + VARIABLE + "}"
    if mark in text:
        usual = (
            str(place.resolve())
            for base in (Path(), folder, folder.resolve().parent)
            if (place := base / DEFAULT).is_dir()
        )
        data = os.environ.get(VARIABLE) or next(usual, "")
        if not data:
            raise InputError(
                f"{key}: the folder of the records is not known; set the variable {VARIABLE} to "
                "it, for example: "
                f"export {VARIABLE}=~/records."
            )
        text = text.replace(mark, data)
    if "\0" in text:
        raise InputError(f"{key}: {shortened(text)} is not a path.")
    return folder / Path(text)


def existing(text: str, folder: Path, key: str) -> Path:
    """`resolved`, refused where nothing is there."""
    path = resolved(text, folder, key)
    try:
        found = path.exists()
    except OSError as problem:
        raise InputError(f"{key}: {shortened(str(path))}: {problem.strerror}.") from None
    if not found:
        hint = (
            f" (Only ${{{VARIABLE}}} is expanded.)" if "$" in text or text.startswith("~") else ""
        )
        raise InputError(f"{key}: {shortened(str(path), 200)}: no such file.{hint}")
    return path
