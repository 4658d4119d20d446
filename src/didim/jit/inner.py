"""Inner kernels become machine code as parts of their entries only.

Numba optimises every function that an entry calls and makes machine code of it, links it into its
caller, and does both again there, level by level: more than half of the time that compiling takes.
Nobody calls an inner kernel from Python. While an entry is compiled, inner kernels therefore stay
as they were lowered, and LLVM sees each of them once, where it is inlined or called.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import codegen, cpu

_PREFIX = "_ZN5didim"
"""How the LLVM names of this package's functions start."""
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
"""Address that Numba takes for an inner kernel's own: a call from Python ends in a TypeError."""
_make_function: Any = _dynfunc.make_function
_compiling = threading.local()
_Library: Any = codegen.CPUCodeLibrary
_Context: Any = cpu.CPUContext
_optimise, _make_code = _Library._optimize_final_module, _Library._finalize_final_module
_get_executable = _Context.get_executable


@contextmanager
def inner_kernels_of(entry: str) -> Iterator[None]:
    """Within it, this thread compiles kernels for the function of this name, and it alone becomes
    machine code.
    """
    _compiling.entry = entry
    try:
        yield
    finally:
        _compiling.entry = None


def _is_inner(library: Any) -> bool:
    entry = getattr(_compiling, "entry", None)
    return (
        entry is not None
        and library.name != entry
        and any(function.name.startswith(_PREFIX) for function in library._final_module.functions)
    )


def _has_no_wrapper(library: Any, description: Any) -> bool:
    """Whether this is an inner kernel of this package that is compiled outside an entry."""
    own = description.mangled_name.startswith(_PREFIX)
    return own and not library.get_pointer_to_function(description.llvm_cpython_wrapper_name)


def _optimise_entry(library: Any) -> None:
    if not _is_inner(library):
        _optimise(library)


def _make_code_of_entry(library: Any) -> None:
    if _is_inner(library):
        library._finalize_dynamic_globals()
        library._final_module.__library = weakref.proxy(library)
        library._finalized = True
    else:
        _make_code(library)


def _get_entry(context: Any, library: Any, description: Any, environment: Any) -> Any:
    if _is_inner(library) or _has_no_wrapper(library, description):
        name = description.qualname.split(".")[-1]
        module = description.lookup_module()
        return _make_function(module, name, "", _REFUSE, environment, (library,))
    return _get_executable(context, library, description, environment)


_Library._optimize_final_module = _optimise_entry
_Library._finalize_final_module = _make_code_of_entry
_Context.get_executable = _get_entry
