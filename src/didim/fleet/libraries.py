"""Which modules are the user's own: their code is part of what a row depends on. That of installed
libraries is known by names and version, compiled modules by their files.
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_INSTALLED = ("site-packages", "dist-packages")
"""Folders of libraries that are not part of Python."""

_STANDARD = Path(os.__file__).parent

_COMPILERS = ("_cython_", "pybind11_", "nanobind")
"""Modules without a file, in which compiled modules have the types of their functions."""

_HEAP_TYPE = 1 << 9
"""Py_TPFLAGS_HEAPTYPE."""


@cache
def is_library(module: str) -> bool:
    """Whether a module belongs to didim, to Python or to an installed package."""
    top = module.partition(".")[0]
    if top == "__main__":
        return False
    if top == "didim" or top in sys.builtin_module_names:
        return True
    file = file_of(module) or file_of(top)
    if file is None:
        return top in sys.stdlib_module_names
    return file.is_relative_to(_STANDARD) or not {*_INSTALLED}.isdisjoint(file.parts)


def has_source(module: object) -> bool:
    """Whether a module is the user's own, in Python: an object of it counts by its code."""
    if not isinstance(module, str) or is_library(module):
        return False
    file = file_of(module)
    return file is None or not file.name.endswith(tuple(EXTENSION_SUFFIXES))


def is_own_class(kind: type) -> bool:
    """Whether a class was made by code of the user, rather than by a compiled module."""
    module = kind.__module__
    is_made_at_run_time = bool(kind.__flags__ & _HEAP_TYPE)
    is_of_compiler = isinstance(module, str) and module.startswith(_COMPILERS)
    return is_made_at_run_time and not is_of_compiler and has_source(module)


def stamp(module: object) -> bytes:
    """Of a module without source: the version of its package, or the hash of a compiled file."""
    if not isinstance(module, str):
        return b""
    if not is_library(module):
        return file_hash(file_of(module))
    top = module.partition(".")[0]
    if top == "didim" or top not in sys.modules:  # didim's version is in the key
        return b""
    own = vars(sys.modules[top]).get("__version__")
    return str(_installed(top) if own is None else own).encode()


@cache
def _installed(top: str) -> list[tuple[str, str]]:
    """The packages that a top module comes from, with their versions."""
    return sorted({(name, version(name)) for name in packages_distributions().get(top, ())})


def file_of(module: str) -> Path | None:
    """The file of a module; None where it has none."""
    loaded = sys.modules.get(module)
    if isinstance(loaded, ModuleType):
        file = getattr(loaded, "__file__", None)
    else:
        try:
            spec = find_spec(module) if "." not in module else None  # else it would be imported
        except (ImportError, ValueError):
            spec = None
        file = None if spec is None or not spec.has_location else spec.origin
    return Path(file) if isinstance(file, str) else None


def file_hash(file: Path | None) -> bytes:
    """SHA-256 of a file; empty where there is none."""
    try:
        return b"" if file is None else hashlib.sha256(file.read_bytes()).digest()
    except OSError:
        return b""
