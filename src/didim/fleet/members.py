"""The members of a fleet: studies, or logs for one study; their robots and times by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import Any

from didim.errors import InputError, as_utf_8, shortened
from didim.fleet.dates import DATE, date_in, days_of
from didim.study.study import Study, load_study

LATEST = 1e20
"""Of times that are numbers: nanoseconds since 1970 are below."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"

_FIELDS = {"robot": r"(?P<robot>[^/]+?)", "time": rf"(?P<time>{DATE}|{_NUMBER})"}


@dataclass(frozen=True)
class Member:
    """One identification of a fleet."""

    name: str
    """Of its file."""
    robot: str
    time: float | None
    """Days since 1970 for dates, else the number in the name; None: not known."""
    is_date: bool = False


@dataclass(frozen=True)
class Members:
    """What a fleet consists of."""

    members: tuple[Member, ...]
    tasks: tuple[Any, ...]
    """Of `run_many`, one for each member."""
    repeated: tuple[str, ...] = ()
    """Names of files that are among the members under another name or path."""


def member_of(path: Path, pattern: str | None = None) -> Member:
    """The robot and time in the name of a file: by a pattern such as "{robot}_day{time}", else by
    a date in the name, the rest of which is the robot.
    """
    name = as_utf_8(str(path))
    bare = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if pattern is None:
        found = date_in(bare.stem)
        if found is None:
            return Member(name, as_utf_8(bare.stem), None)
        robot = as_utf_8(found[1].strip("-_. ")) or "robot"
        return Member(name, robot, *_time(found[0], name))
    match = re.search(_expression(pattern), bare.with_suffix("").as_posix(), re.ASCII)
    if match is None:
        raise InputError(
            f"{path}: its name is not like {shortened(pattern)}, which --name gives; {{time}} is "
            "a number or a date such as 2026-03-01."
        )
    groups = match.groupdict()
    time, is_date = _time(groups["time"], name) if "time" in groups else (None, False)
    return Member(name, as_utf_8(groups.get("robot", "robot")), time, is_date)


def _expression(pattern: str) -> str:
    """The regular expression of a pattern."""
    parts = re.split(r"\{(\w+)\}", pattern)
    fields = parts[1::2]
    if not fields or not set(fields) <= set(_FIELDS) or len(set(fields)) < len(fields):
        raise InputError(
            f"--name {shortened(pattern)}: write {{robot}} and {{time}}, each once, where the "
            'names of the files have them, such as "{robot}_day{time}".'
        )
    texts = [_FIELDS[part] if k % 2 else re.escape(part) for k, part in enumerate(parts)]
    return rf"(?:^|/){''.join(texts)}$"


def _time(text: str, name: str) -> tuple[float, bool]:
    """A date in days, or a number; and whether it is a date."""
    if re.fullmatch(_NUMBER, text, re.ASCII) and not re.fullmatch(DATE, text, re.ASCII):
        number = float(text)
        if abs(number) > LATEST:
            raise InputError(f"{name}: the time {shortened(text)} is beyond {LATEST:g}.")
        return number, False
    days = days_of(text)
    if days is None:
        raise InputError(
            f"{name}: {shortened(text)} is no date; --name says where the names of the files have "
            "the time."
        )
    return days, True


def members_of_fleet(
    studies: Sequence[str], logs: Sequence[str], pattern: str | None, settings: Sequence[str]
) -> Members:
    """Each study as it is, or one study with each log that the patterns of `logs` name; each file
    once.
    """
    for each in studies:
        if not each or Path(each).is_dir():
            raise InputError(f"{shortened(each)} is not a file; give a study, a .toml file.")
    if not logs:
        # the paths in a study are relative to its folder, even where its file is a link
        places = [(each, (realpath(Path(each).parent), realpath(each))) for each in studies]
        files, repeated = _once(places)
        tasks: list[Any] = [(each, list(settings), 0) for each in files]
    elif len(studies) != 1:
        raise InputError("--logs replaces the log of one study; give a single study with it.")
    else:
        study = load_study(studies[0], settings)
        key = f"experiment.{_fitted(study)}.file"
        found = sorted((file for each in logs for file in _files(each)), key=str)
        # a file goes before the links to it: its name is more likely to say robot and time
        found.sort(key=lambda file: file.is_symlink())
        files, repeated = _once((str(file), realpath(file)) for file in found)
        files.sort()
        tasks = [(study, {key: realpath(each)}, 0) for each in files]
    members = tuple(member_of(Path(each), pattern) for each in files)
    _refuse_numbers_beside_dates(members)
    return Members(members, tuple(tasks), tuple(as_utf_8(each) for each in repeated))


def _once(files: Iterable[tuple[str, object]]) -> tuple[list[str], list[str]]:
    """The first of the names that have the same place, and the other names."""
    first: dict[object, str] = {}
    repeated = [name for name, place in files if first.setdefault(place, name) != name]
    return list(first.values()), list(dict.fromkeys(repeated))


def _refuse_numbers_beside_dates(members: Sequence[Member]) -> None:
    """A line over both would mean nothing."""
    by_kind = {each.is_date: each for each in members if each.time is not None}
    if len(by_kind) > 1:
        raise InputError(
            f"The time is a date in {shortened(by_kind[True].name)} and a number in "
            f"{shortened(by_kind[False].name)}; name all files in the same way."
        )


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
    if path.name in ("", ".."):
        raise InputError(f"--logs {shortened(pattern)}: names no file; give a log or a pattern.")
    if path.exists():
        return [path]
    root = Path(path.anchor) if path.is_absolute() else Path()
    try:
        found = list(root.glob(str(path.relative_to(root) if path.is_absolute() else path)))
    except ValueError as problem:  # '**' within a name, on Python before 3.13
        raise InputError(f"--logs {shortened(pattern)}: {problem}.") from None
    if not found:
        raise InputError(f"--logs {shortened(pattern)}: there is no such file.")
    return found
