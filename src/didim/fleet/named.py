"""What the code of a function names: globals, what it takes from modules, and what it imports.

Names are found in the compiled code and in the functions, comprehensions and classes inside it.
What code finds by texts (`getattr`, `globals()`) is not seen. A module counts by its file, and by
the values that are taken from it, since a script may have changed these.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import resolve_name
from types import CodeType, FunctionType, ModuleType
from typing import Any

from didim.fleet.carried import Values, is_value
from didim.fleet.libraries import file_hash, file_of, has_source

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"}

_OF_MODULES = {"__builtins__", "__cached__", "__file__", "__loader__", "__path__", "__spec__"}
"""Names that Python gives to modules; they depend on the machine."""


@dataclass
class _Names:
    """What code names."""

    globals: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    """What is used without an attribute of it: handed to another function, or kept."""
    imports: set[tuple[str, int, tuple[str, ...]]] = field(default_factory=set)
    """Module, how many packages up it is, and what is taken from it."""


def code_parts(code: CodeType) -> list[Any]:
    """What tells code from other code: what it does, and how it is called."""
    count = code.co_argcount + code.co_kwonlyargcount
    return [
        code.co_code,
        code.co_consts,
        code.co_names,
        code.co_varnames[:count],
        (code.co_argcount, code.co_posonlyargcount, code.co_flags),
        code.co_freevars,
        code.co_exceptiontable,
    ]


def cells_of(function: FunctionType) -> list[Any]:
    """What a function has from the functions around it."""

    def content(cell: Any) -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return b"not set"

    return [content(each) for each in function.__closure__ or ()]


def named_by(function: FunctionType) -> Iterator[Any]:
    """Name and value, one after the other, of what a function names, and of the modules that it has
    from the functions around it.
    """
    names, space = _names_of(function.__code__), function.__globals__
    found = [(name, space[name]) for name in sorted(names.globals - _OF_MODULES) if name in space]
    inner = [each for each in cells_of(function) if isinstance(each, ModuleType)]
    for each in sorted(names.imports):
        inner += _imported(each, space)
    found += [(each.__name__, each) for each in inner]
    names.given.update(each.__name__ for each in inner)  # their variables are not followed
    seen: set[str] = set()
    for name, value in found:
        for full, each in _taken(name, value, names, seen):
            yield full.encode()
            yield each


def values_of(function: FunctionType) -> Values:
    """What a function takes from modules of the user which another process can import, but for
    functions, classes and modules.
    """
    names, space = _names_of(function.__code__), function.__globals__
    found = [each.decode() for each in [*named_by(function)][::2]]
    modules = [(sys.modules[each], names.attributes) for each in found if each in sys.modules]
    modules += [
        (space[each], names.attributes) for each in found if isinstance(space.get(each), ModuleType)
    ]
    own = sys.modules.get(str(function.__module__))
    if own is not None and vars(own) is space:
        modules.append((own, names.globals))
    return {
        (module.__name__, name): vars(module)[name]
        for module, taken in modules
        if module.__name__ != "__main__" and has_source(module.__name__)
        for name in taken & vars(module).keys() - _OF_MODULES
        if is_value(vars(module)[name])
    }


def _names_of(code: CodeType) -> _Names:
    found = _Names()
    for each in _with_inner(code):
        lines = [line for line in dis.get_instructions(each) if line.opname != "EXTENDED_ARG"]
        for k, line in enumerate(lines):
            if line.opname in _GLOBALS | _ATTRIBUTES:
                group = found.globals if line.opname in _GLOBALS else found.attributes
                group.add(line.argval)
                if k + 1 == len(lines) or lines[k + 1].opname not in _ATTRIBUTES:
                    found.given.add(line.argval)
            elif line.opname == "IMPORT_NAME":
                level, taken = lines[k - 2].argval, lines[k - 1].argval
                found.imports.add((line.argval, level, taken or ()))
    return found


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_inner(each)


def _imported(wanted: tuple[str, int, tuple[str, ...]], space: dict[str, Any]) -> list[ModuleType]:
    """The user's own modules of an import inside a function, which the function would load too."""
    name, level, taken = wanted
    package = space.get("__package__") or ""
    try:
        full = resolve_name("." * level + name, package)
        if not has_source(full):
            return []
        found = [import_module(full)]
        if not taken:  # import a.b has the name a
            found.append(import_module(full.partition(".")[0]))
    except (Exception, SystemExit):  # its task will fail of it, in a row that says so
        return []
    for each in taken:
        if not hasattr(found[0], each):
            with suppress(Exception, SystemExit):
                found.append(import_module(f"{full}.{each}"))
    return found


def _taken(name: str, value: Any, names: _Names, seen: set[str]) -> Iterator[tuple[str, Any]]:
    """The value of a name; of a module of the user, its file and what the code names of it, or the
    whole module where it is handed on.
    """
    if not isinstance(value, ModuleType) or not has_source(value.__name__):
        yield name, value
        return
    if value.__name__ in seen:
        return
    seen.add(value.__name__)
    is_given = name in names.given or name.rpartition(".")[2] in names.given
    yield name, value if is_given else file_hash(file_of(value.__name__))
    for each in sorted(names.attributes & vars(value).keys() - _OF_MODULES):
        yield from _taken(f"{value.__name__}.{each}", vars(value)[each], names, seen)
