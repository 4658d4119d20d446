"""The members of a fleet: studies, or logs for one study; their robots and times by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from didim.errors import InputError, shortened
from didim.study.study import Study, load_study

ISO_DATE = re.compile(r"[-_.]?(\d{4}-\d{2}-\d{2}(?:T\d{2}[:-]?\d{2}(?:[:-]?\d{2})?)?)")

SECONDS_PER_DAY = 86400.0

_FIELDS = {"robot": r"(?P<robot>[^/]+?)", "time": r"(?P<time>[^/]+?)"}


@dataclass(frozen=True)
class Member:
    """One identification of a fleet."""

    name: str
    """Of its file."""
    robot: str
    time: float | None
    """Days since 1970 for dates, else the number in the name; None: not known."""
    is_date: bool = False


def member_of(path: Path, pattern: str | None = None) -> Member:
    """The robot and time in the name of a file: by a pattern such as "{robot}_day{time}", else by
    an ISO date in the name, the rest of which is the robot.
    """
    stem = str(path.with_suffix("")).replace("\\", "/")
    if pattern is None:
        found = ISO_DATE.search(path.stem)
        if found is None:
            return Member(str(path), path.stem, None)
        rest = path.stem[: found.start()] + path.stem[found.end() :]
        return Member(str(path), rest.strip("-_. ") or "robot", *_time(found[1], str(path)))
    parts = re.split(r"\{(\w+)\}", pattern)
    unknown = set(parts[1::2]) - set(_FIELDS)
    if unknown or not parts[1::2]:
        raise InputError(
            f"--name {shortened(pattern)}: write {{robot}} and {{time}} where the names of the "
            'files have them, such as "{robot}_day{time}".'
        )
    expression = "".join(
        _FIELDS[part] if k % 2 else re.escape(part) for k, part in enumerate(parts)
    )
    match = re.search(rf"(?:^|/){expression}$", stem)
    if match is None:
        raise InputError(f"{path}: its name is not like {shortened(pattern)}, which --name gives.")
    groups = match.groupdict()
    time, is_date = _time(groups["time"], str(path)) if "time" in groups else (None, False)
    return Member(str(path), groups.get("robot", "robot"), time, is_date)


def _time(text: str, where: str) -> tuple[float, bool]:
    """A number, or a date in days."""
    try:
        return float(text), False
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"{where}: {shortened(text)} is neither a number nor a date such as 2026-03-01."
        ) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.timestamp() / SECONDS_PER_DAY, True


def tasks_of_fleet(
    studies: Sequence[str], logs: Sequence[str], pattern: str | None, settings: Sequence[str]
) -> tuple[list[Member], list[Any]]:
    """Members and tasks: each study as it is, or one study with each log that the patterns of
    `logs` name.
    """
    if not logs:
        members = [member_of(Path(each), pattern) for each in studies]
        return members, [(each, list(settings), 0) for each in studies]
    if len(studies) != 1:
        raise InputError("--logs replaces the log of one study; give a single study with it.")
    study = load_study(studies[0], settings)
    index = _fitted(study)
    files = sorted({file for each in logs for file in _files(each)}, key=str)
    members = [member_of(each, pattern) for each in files]
    return members, [
        (study, {f"experiment.{index}.file": str(each.resolve())}, 0) for each in files
    ]


def _fitted(study: Study) -> int:
    """The experiment of a study whose log is replaced."""
    fitted = [k for k, each in enumerate(study.settings.experiment) if each.use != "validate"]
    if len(fitted) != 1:
        raise InputError(
            f"{study.name}: --logs replaces the log of the one experiment that is fitted; it has "
            f"{len(fitted)}."
        )
    return fitted[0]


def _files(pattern: str) -> list[Path]:
    """The files of a pattern; one that a shell has expanded is a file."""
    path = Path(pattern)
    if path.exists():
        return [path]
    root = Path(path.anchor) if path.is_absolute() else Path()
    found = sorted(root.glob(str(path.relative_to(root) if path.is_absolute() else path)))
    if not found:
        raise InputError(f"--logs {shortened(pattern)}: there is no such file.")
    return found
