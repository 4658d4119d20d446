"""The files that a command writes, and what it prints at its end.

Files that cannot be written are refused before any work. What a command has computed is not lost
where its file cannot be written in the end: it is saved elsewhere, and standard error says where.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from didim.cli.shared.answer import Answer, printed
from didim.errors import InfeasibleError, InputError, internal_error
from didim.output import Overwrite, Seen, UnwritableError, free, write_elsewhere

OVERWRITE_HINT = "give another name, or --force"

Writer = Callable[[Path, Overwrite], Any]
"""Writes a result to a path, over an existing file or not."""


@dataclass(frozen=True)
class Saved:
    """Where finished results were written, and what went wrong; empty where nothing did."""

    files: tuple[Path, ...]
    refused: str


def named_output(given: str | Path | None, endings: Sequence[str]) -> Path | None:
    """The file that is to be written, refused where its ending is wrong."""
    path = None if given is None else Path(given)
    if path is not None and path.suffix.lower() not in endings:
        raise InputError(f"{path}: must end in {' or '.join(endings)}.")
    return path


def free_outputs(outputs: Sequence[Path], force: bool) -> Overwrite:
    """Refuse, before any work, files that cannot be written; returns what may be written over."""
    for each in outputs:
        free(each, force, OVERWRITE_HINT)
    return Seen.now(outputs) if force else False


def save_all(
    writers: Iterable[tuple[Path | None, Writer]], overwrite: Overwrite, debug: bool
) -> Saved:
    """Write every file that was asked for."""
    found = [saved(write_to, file, overwrite, debug) for file, write_to in writers if file]
    return Saved(
        tuple(file for file, _ in found if file),
        " ".join(problem for _, problem in found if problem),
    )


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


def show(
    options: argparse.Namespace,
    answer: Callable[[], Answer],
    text: Callable[[], str],
    files: Sequence[str],
    refused: str = "",
    note: str = "",
) -> None:
    """Print the JSON object, or the text, the files that were written and a note; on standard
    error what was refused.
    """
    if options.json:
        print(printed(answer()))
    else:
        print(text())
        if files:
            print(f"\nWritten: {', '.join(files)}")
        if note:
            print(note)
    say_refused(refused)


def say_refused(refused: str) -> None:
    """Say on standard error what could not be written."""
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
