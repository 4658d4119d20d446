"""Paths in a study file: relative to the file, with `${DIDIM_DATA}` and nothing else expanded."""

from __future__ import annotations

import os
from pathlib import Path

from didim.errors import InputError, shortened

VARIABLE = "DIDIM_DATA"
SOURCES = (
    "EMPS: nonlinearbenchmark.org/benchmarks/emps; "
    "TX40: github.com/thanhndv212/figaroh-examples; "
    "double pendulum: github.com/dfki-ric-underactuated-lab/double_pendulum"
)
"""Where the records of the example studies are published."""


def resolved(text: str, folder: Path, key: str) -> Path:
    """The path that a study means by a text; `folder` is that of the study, `key` is named in
    errors.
    """
    mark = "${" + VARIABLE + "}"
    if mark in text:
        data = os.environ.get(VARIABLE)
        if not data:
            raise InputError(
                f"{key}: the environment variable {VARIABLE} has no value; set it to the folder "
                f"that holds the records, for example: export {VARIABLE}=~/records. "
                f"The records of the examples are published ({SOURCES})."
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
