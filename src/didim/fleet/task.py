"""Tasks: what a user gives, and what travels to a worker.

A task is (source, settings, seed). The source is a study, the path of one, or (model, experiments,
method) with held-out records as a fourth part; experiments may be a function of the seed that makes
them. The parts of a source travel once for each worker, however many tasks share them.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from didim import __version__
from didim.dynamics.model import BaseModel, DynamicModel
from didim.errors import InputError, as_utf_8, naming, shortened
from didim.fleet.carried import Carried, Values
from didim.fleet.digest import digest, digest_and_values
from didim.results.provenance import described
from didim.robot.write_toml import toml_value
from didim.study.origin import files_of
from didim.study.reading import apply_setting, check_study
from didim.study.study import Study, load_study
from didim.study.written import plain
from didim.validation import whole

try:
    import cloudpickle as pickler  # functions of a script or notebook
except ImportError:
    pickler = pickle

Settings = Mapping[str, Any] | Sequence[str]
Source = Study | str | PathLike[str] | tuple[Any, ...]
Task = tuple[Source, Settings, int]

_FORM = "a task is (study or (model, experiments, method), settings, seed), such as (study, {}, 0)"


@dataclass(frozen=True, eq=False)
class Job:
    """A task as it is sent to a worker."""

    key: str
    name: str
    settings: str
    seed: int
    parts: tuple[str, ...] = ()
    """Hashes of the parts: of a study, or of model, experiments, method and held-out records."""
    problem: InputError | None = None
    """Why it cannot be run; None: it can."""

    @property
    def row(self) -> dict[str, Any]:
        """What its row has in any case."""
        return {
            "key": self.key,
            "name": self.name,
            "settings": self.settings,
            "seed": self.seed,
        }


@dataclass(eq=False)
class Prepared:
    """The jobs of a call, in the order of its tasks, and the parts that they are run on."""

    jobs: list[Job] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)
    """From the hash of a part to its pickle."""
    _known: dict[int, tuple[str, Any]] = field(default_factory=dict)
    """Hashes by identity: a record that many tasks share is hashed once."""

    def forget(self) -> None:
        """Hash every part anew, as it is by now."""
        self._known.clear()

    def hashed(self, value: Any, where: str) -> str:
        """The hash of a part, which is kept for the workers; `where` is named in errors."""
        known = self._known.get(id(value))
        if known is not None:
            return known[0]
        with naming(where):
            found, values = digest_and_values(value)
            if found not in self.blobs:
                self.blobs[found] = _pickled(_carried(value, values) if callable(value) else value)
        self._known[id(value)] = found, value  # the reference keeps the identity unique
        return found


def _carried(function: Callable[[int], Any], values: Values) -> Carried:
    """With the values that can be copied; a worker makes others, such as locks, itself."""
    kept = Values()
    for name, value in values.items():
        with suppress(InputError):
            _pickled(value)
            kept[name] = value
    return Carried(function, kept)


def prepare(tasks: Iterable[Any]) -> Prepared:
    """Check the tasks and hash them. What is wrong with their files is a row, not an error."""
    prepared = Prepared()
    if isinstance(tasks, str) or not isinstance(tasks, Iterable):
        raise InputError(f"tasks must be a list of tasks, found {shortened(tasks)}; {_FORM}.")
    is_list = isinstance(tasks, Sequence)
    for index, task in enumerate(tasks):
        where = f"tasks[{index}]"
        if not is_list:  # a generator may change what it has handed out
            prepared.forget()
        if not isinstance(task, tuple) or len(task) != 3:
            raise InputError(f"{where} is {shortened(task)}; {_FORM}.")
        source, settings, number = task
        seed = whole(number, f"{where}: the seed", least=0)
        if isinstance(source, Study | str | PathLike):
            prepared.jobs.append(_of_study(prepared, source, settings, seed, where))
        elif isinstance(source, tuple) and len(source) in (3, 4):
            prepared.jobs.append(_of_parts(prepared, source, settings, seed, where))
        else:
            raise InputError(f"{where} is of {shortened(source)}; {_FORM}.")
    return prepared


def changed(study: Study, settings: Settings) -> Study:
    """A study with other settings, by texts "key=value" or by dotted keys."""
    data = study.settings.model_dump(exclude_unset=True)
    for text in _texts(settings, study.name):
        apply_setting(data, text)
    return Study(check_study(data, study.name), study.folder.resolve(), study.name)


def _texts(settings: object, where: str) -> list[str]:
    """Settings as texts "key=value"."""
    if isinstance(settings, str):
        return [settings]
    if isinstance(settings, Mapping):
        return [f"{key}={_toml(value, key, where)}" for key, value in settings.items()]
    if isinstance(settings, Sequence) and all(isinstance(each, str) for each in settings):
        return list(settings)
    raise InputError(
        f'{where}: the settings of a study are a table, such as {{"didim.refine": True}}, or a '
        f'list of texts, such as ["didim.refine=true"]; found {shortened(settings)}.'
    )


def _toml(value: object, key: object, where: str) -> str:
    try:
        return toml_value(plain(value))
    except (TypeError, ValueError, AttributeError, RecursionError):
        raise InputError(
            f"{where}: the setting {shortened(key)} is {shortened(value)}; it must be a number, a "
            "text, true or false, a list or a table."
        ) from None


def _of_study(
    prepared: Prepared,
    source: Study | str | PathLike[str],
    settings: Settings,
    seed: int,
    where: str,
) -> Job:
    texts = _texts(settings, where)
    text = json.dumps(described(settings if isinstance(settings, Mapping) else texts))
    given = source.name if isinstance(source, Study) else str(source)
    name = as_utf_8(given)
    try:
        study = changed(source if isinstance(source, Study) else load_study(source), texts)
        files = files_of(study.settings, study.folder, study.name)
    except InputError as problem:
        key = digest([__version__, given, str(problem), text, seed])
        return Job(key, name, text, seed, problem=problem)
    part = prepared.hashed(study, where)
    return Job(digest([__version__, part, files, seed]), name, text, seed, (part,))


def _of_parts(
    prepared: Prepared, source: tuple[Any, ...], settings: Settings, seed: int, where: str
) -> Job:
    model, experiments, method, *rest = source
    if not isinstance(model, DynamicModel | BaseModel):
        raise InputError(f"{where}: the model is {shortened(model)}; {_FORM}.")
    if not isinstance(settings, Mapping):
        raise InputError(
            f"{where}: the settings of a method are a table, such as "
            f'{{"decimation": 4}}; found {shortened(settings)}.'
        )
    text = json.dumps(described({"method": type(method).__name__, **settings}))
    name, problem = model.robot.name, None
    try:
        chosen = replace(method, **settings) if settings else method
    except InputError as found:
        chosen, problem = method, found
    except TypeError as found:
        chosen, problem = method, InputError(f"{where}: {found}.")
    held_out = rest[0] if rest else None
    parts = tuple(prepared.hashed(each, where) for each in (model, experiments, chosen, held_out))
    key = digest([__version__, parts, text if problem else "", seed])
    return Job(key, name, text, seed, parts, problem)


def made(experiments: Any, seed: int) -> Any:
    """Records, or those that a function makes of the seed."""
    return experiments(seed) if callable(experiments) else experiments


def _pickled(value: Any) -> bytes:
    try:
        content: bytes = pickler.dumps(value)
    except Exception as problem:
        raise InputError(
            f"{shortened(value)} cannot be copied to workers ({problem}); define functions in a "
            "module, and make what has no copy, such as a lock, inside of them."
        ) from None
    return content
