"""Writing pictures: over our own earlier ones, never over anything else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from didim.errors import InputError
from didim.output import write

_MARK = "didim picture"


def check_free(file: Path, force: bool = False) -> Path:
    """Refuse a name that another file has, before any work is done; a picture that didim drew may be drawn again."""
    if file.suffix.lower() != ".png":
        raise InputError(f"{file}: pictures are written as .png.")
    if file.exists() and not force and not (file.is_file() and _MARK.encode() in file.read_bytes()[:4096]):
        raise InputError(f"{file} exists already and is no picture of didim's; give another name, or --force.")
    return file


def write_picture(axes: Any, file: Path) -> Path:
    """The figure of these axes as a PNG that says where it comes from."""
    drawn = io.BytesIO()
    axes.figure.savefig(drawn, dpi=110, format="png", metadata={"Software": _MARK})
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{file}: cannot be written: {problem.strerror or problem}.") from None
    write({file: drawn.getvalue()}, overwrite=True)
    return file
