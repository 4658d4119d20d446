"""The files that a study is run on, with their hashes: what is needed to run it again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from didim.errors import InputError
from didim.robot.load import shipped_robots
from didim.robot.mjcf.tree import read_tree
from didim.study.paths import resolved
from didim.study.record_schema import ExperimentTable
from didim.study.schema import StudyFile

RECORDS = "records"
"""In excite.after: the records of the study itself."""

NOT_FILES = ("nominal", "unit", "identity", "prior")
"""Values of keys that may name a file, but do not."""


def files_of(settings: StudyFile, folder: Path, name: str) -> list[dict[str, str]]:
    """Path, as the study writes it, and SHA-256 of the study, the robots, the records and the
    estimates that it names, and of the files that a robot in MJCF includes.
    """
    return [
        {"path": text, "sha256": digest}
        for text, path in named_files(settings, folder, name).items()
        if (digest := _digest(path))
    ]


def named_files(settings: StudyFile, folder: Path, name: str) -> dict[str, Path]:
    """The study itself and the files that it names, from the text in the study to the path."""
    named = [str(settings.robot)]
    for table in settings.experiment:
        named += _of_record(table)
    if settings.controller is not None and settings.controller.model is not None:
        named.append(settings.controller.model)
    tables = settings.iv, settings.didim, settings.output_error
    starts = [each.given().get("initial") for each in tables]
    named += [start for start in starts if isinstance(start, str)]
    if settings.excite is not None:
        named += [each for each in settings.excite.after or () if each != RECORDS]
    not_files = {*shipped_robots(), *NOT_FILES}
    files = {text: resolved(text, folder, text) for text in named if text not in not_files}
    parts = {
        _beside(Path(text), path.resolve().parent, part): part
        for text, path in files.items()
        if path.suffix.lower() in (".xml", ".mjcf")
        for part in _parts_of_mjcf(path)
    }
    return {name: folder / name} | files | parts


def _beside(file: Path, folder: Path, part: Path) -> str:
    """The path of a part as a study would write it that names `file` in `folder`."""
    try:
        return str(file.parent / os.path.relpath(part, folder))
    except ValueError:  # on another drive
        return str(part)


def _parts_of_mjcf(path: Path) -> tuple[Path, ...]:
    """The files that an MJCF file is read from beside its own; none of one that cannot be read."""
    try:
        return read_tree(path.resolve()).files
    except (InputError, OSError, ValueError):
        return ()


def _of_record(table: ExperimentTable) -> list[str]:
    files = (
        [table.file]
        if isinstance(table.file, str)
        else [text for texts in table.file.lists.values() for text in texts]
    )
    reference = table.reference.file if table.reference is not None else None
    return files if reference is None else [*files, reference]


def _digest(path: Path) -> str:
    """SHA-256 of a file; a remark for a folder; empty where there is no file."""
    if path.is_dir():
        return "a folder, not hashed"
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return ""
