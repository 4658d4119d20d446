"""What a command has computed is not lost where its file cannot be written: it is saved elsewhere,
and standard error says where.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from didim.errors import InfeasibleError, InputError, internal_error
from didim.output import Overwrite, UnwritableError, write_elsewhere

Writer = Callable[[Path, Overwrite], Any]
"""Writes a result to a path, over an existing file or not."""


def saved(
    write_to: Writer, file: Path, overwrite: Overwrite, debug: bool = False
) -> tuple[Path | None, str]:
    """Where a finished result was written, and what went wrong; None where it is in no file. With
    `debug`, a bug is raised.
    """
    try:
        write_to(file, overwrite)
    except UnwritableError as problem:
        other = write_elsewhere(lambda place: write_to(place, False), file)
        where = "It was not saved." if other is None else f"It was saved as {other} instead."
        return other, f"{problem} {where}"
    except (InputError, InfeasibleError) as problem:
        return None, f"{file} was not written. {problem}"
    except Exception as problem:  # a bug in didim must not cost the result that is still to print
        if debug:
            raise
        return None, f"{file} was not written. {internal_error(problem)}"
    return file, ""
