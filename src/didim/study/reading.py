"""From a TOML file and `--set` options to a checked `StudyFile`; an error is one line that names
the key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from didim.errors import InputError, nearest, shortened
from didim.reading import read_bytes
from didim.study.schema import StudyFile
from didim.study.table import meanings

Checked = TypeVar("Checked", bound=BaseModel)

_PART = re.compile(r'\s*(?:"([^"]*)"|\'([^\']*)\'|([^.\[\]"\'\s]+)|\[(\d+)\])\s*')

_INDEX = re.compile(r"[0-9]{1,6}")

MAX_PATH_PARTS = 12
"""Parts of a dotted path, at most."""

_KINDS = {
    "string_type": "must be a text",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "dict_type": "must be a table",
}


def read_study(path: Path, settings: Sequence[str] = ()) -> StudyFile:
    """The study in a file, changed by texts "key=value"."""
    return check_study(read_toml(path, settings), path.name)


def read_toml(
    path: Path,
    settings: Sequence[str] = (),
    what: str = "study",
    hint: str = "; didim init writes a study to start from",
) -> dict[str, Any]:
    """The plain data of a file, changed by texts "key=value"."""
    try:
        if path.is_dir():
            raise InputError(f"{shortened(str(path))}: is a folder; give the {what} file in it.")
        data = tomllib.loads(read_bytes(path).decode("utf-8-sig"))
    except InputError:
        raise
    except OSError as problem:
        reason = (
            "no such file"
            if isinstance(problem, FileNotFoundError)
            else f"cannot be read: {problem.strerror}"
        )
        raise InputError(f"{shortened(str(path))}: {reason}{hint}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path.name}: not a TOML file: {str(problem).splitlines()[0]}.") from None
    for text in settings:
        apply_setting(data, text)
    return data


def check_table(schema: type[Checked], data: dict[str, Any], where: str) -> Checked:
    """Plain data as a table of a schema; an error is one line."""
    try:
        _refuse_large_integers(data, where)
        return schema.model_validate(data)
    except ValidationError as problem:
        raise InputError(f"{where}: {_first_error(problem, schema)}") from None
    except RecursionError:
        raise InputError(f"{where}: tables are nested too deeply.") from None


def check_study(data: dict[str, Any], where: str) -> StudyFile:
    """The study that plain data describe."""
    study = check_table(StudyFile, data, where)
    if not study.experiment and study.excite is None:
        raise InputError(
            f"{where}: the key 'experiment' is missing; describe each record in a table "
            "[[experiment]]."
        )
    return study


def _refuse_large_integers(value: Any, where: str) -> None:
    """TOML's integers have 64 bits; Python reads more, and refuses to print thousands of digits."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise InputError(f"{where}: an integer has more than the 64 bits of TOML.")
    if isinstance(value, dict):
        for key, each in value.items():
            _refuse_large_integers(each, f"{where}: {shortened(key)}")
    elif isinstance(value, list):
        for each in value:
            _refuse_large_integers(each, where)


def apply_setting(data: dict[str, Any], text: str) -> None:
    """Change one key of plain data: `dotted.path=value`, the value read as TOML, else as a text.

    `experiment.0.use` is that of the first experiment, `experiment.use` that of every one.
    """
    key, mark, value = text.partition("=")
    parts = _parts(key)
    if not mark or not key.strip():
        raise InputError(
            f"--set needs key=value, such as didim.refine=true; found {shortened(text)}."
        )
    if not 0 < len(parts) <= MAX_PATH_PARTS:
        raise InputError(
            f"--set: {shortened(key.strip())} is not a dotted path, such as didim.refine or "
            "experiment.0.use."
        )
    _put(data, parts, _value(value), key.strip())


def _parts(key: str) -> list[str]:
    """The names and numbers of a dotted path; none where it is not a path."""
    found, at, key = [], 0, key.strip()
    while at < len(key):
        match = _PART.match(key, at)
        if match is None:
            return []
        found.append(next(group for group in match.groups() if group is not None))
        at = match.end()
        if at < len(key) and key[at] == ".":
            at += 1
            if at == len(key):
                return []
        elif at < len(key) and key[at] != "[":
            return []
    return found


def _value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text.strip()
    return parsed["value"] if set(parsed) == {"value"} else text.strip()


def _put(node: Any, parts: list[str], value: Any, key: str) -> None:
    name, rest = parts[0], parts[1:]
    if isinstance(node, list):
        if not _INDEX.fullmatch(name):
            for item in node:
                _put(item, parts, value, key)
        elif int(name) >= len(node):
            raise InputError(
                f"--set {key}: there is no {name}; the list has {len(node)}, counted from 0."
            )
        elif rest:
            _put(node[int(name)], rest, value, key)
        else:
            node[int(name)] = value
    elif not isinstance(node, dict):
        raise InputError(
            f"--set {key}: {name!r} lies below {shortened(node)}, which is not a table."
        )
    elif not rest:
        node[name] = value
    else:
        _put(node.setdefault(name, {}), rest, value, key)


def _first_error(problem: ValidationError, schema: type[BaseModel]) -> str:
    """The first error, and how many more keys are wrong."""
    errors = problem.errors(include_url=False)
    others = len({tuple(_path(error)) for error in errors}) - 1
    more = f" (And {others} more key{'s'[: others > 1]}.)" if others else ""
    return f"{_sentence(errors[0], schema)}{more}"


def _path(error: Any) -> list[str | int]:
    """Where an error is, as a person would write it: without the branches of a union."""
    return [
        part
        for part in error["loc"]
        if isinstance(part, int) or not part.startswith(("function-", "<"))
    ]


def _sentence(error: Any, schema: type[BaseModel]) -> str:
    path = _path(error)
    place = ".".join(str(part) for part in path)
    kind, found = error["type"], shortened(error["input"])
    if kind == "extra_forbidden":
        return f"unknown key {place!r}; {nearest(str(path[-1]), _known_keys(path[:-1], schema))}"
    if kind == "missing":
        return f"the key {place!r} is missing{_meaning(path, schema)}"
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        return (
            f"{place}: unknown {shortened(error['input'])}; "
            f"{nearest(str(error['input'])[:80], words)}"
        )
    if kind == "value_error":
        return f"{place} {error['ctx']['error']}."
    if kind == "list_type":
        return f"{place} must be a list, written [[{place}]], found {found}."
    return f"{place} {_KINDS.get(kind, error['msg'])}, found {found}."


def _table_at(path: Sequence[str | int], schema: type[BaseModel]) -> type[BaseModel] | None:
    """The table of the schema at a path."""
    table: type[BaseModel] | None = schema
    for part in path:
        if isinstance(part, str) and table is not None:
            field = table.model_fields.get(part)
            table = None if field is None else _table_in(field.annotation)
    return table


def _table_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (found for each in get_args(annotation) if (found := _table_in(each)) is not None), None
    )


def _known_keys(path: Sequence[str | int], schema: type[BaseModel]) -> list[str]:
    table = _table_at(path, schema)
    return [] if table is None else list(table.model_fields)


def _meaning(path: Sequence[str | int], schema: type[BaseModel]) -> str:
    """What a missing key means."""
    table = _table_at(path[:-1], schema)
    text = "" if table is None else meanings(table).get(str(path[-1]), "")
    return f": {' '.join(text.split())}" if text else "."
