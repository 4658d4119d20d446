"""The files that a study was run on, with their hashes: what another person needs to run it again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from didim.robot.load import shipped_robots
from didim.study.paths import resolved
from didim.study.record_schema import ExperimentTable
from didim.study.schema import StudyFile


def files_of(settings: StudyFile, folder: Path, name: str) -> list[dict[str, str]]:
    """Path, as the study writes it, and SHA-256 of every file that was read: the study, the robot, the records."""
    named = [] if settings.robot in shipped_robots() else [str(settings.robot)]
    for table in settings.experiment:
        named += _of_record(table)
    found = {name: folder / name} | {text: resolved(text, folder, "file") for text in dict.fromkeys(named)}
    return [{"path": text, "sha256": digest} for text, path in found.items() if (digest := _digest(path))]


def _of_record(table: ExperimentTable) -> list[str]:
    files = [table.file] if isinstance(table.file, str) else [str(text) for text in table.file.given().values()]
    reference = table.reference.file if table.reference is not None else None
    return files if reference is None else [*files, reference]


def _digest(path: Path) -> str:
    """SHA-256 of a file; empty where it is a folder, or gone since."""
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return ""
