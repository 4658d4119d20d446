"""Inner kernels become machine code as parts of their entries only.

Numba optimises every function that an entry calls and makes machine code of it, links it into its
caller, and does both again there, level by level: more than half of the time that compiling takes.
Nobody calls an inner kernel from Python. While an entry is compiled, inner kernels therefore stay
as they were lowered, and LLVM sees each of them once, where it is inlined or called. The entry
itself is optimised; `kernels` makes machine code of it.
"""

from __future__ import annotations

import ctypes
import threading
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
    """Within it, this thread compiles kernels for the function of this name: it alone is optimised,
    and Numba makes machine code of none.
    """
    _compiling.entry = entry
    try:
        yield
    finally:
        _compiling.entry = None


def _is_kernel(library: Any) -> bool:
    """Whether this is a kernel of this package, and compiled for an entry."""
    return getattr(_compiling, "entry", None) is not None and any(
        function.name.startswith(_PREFIX) for function in library._final_module.functions
    )


def _optimise_entry(library: Any) -> None:
    if not _is_kernel(library) or library.name == _compiling.entry:
        _optimise(library)


def _make_code_of_others(library: Any) -> None:
    if _is_kernel(library):
        library._finalized = True
    else:
        _make_code(library)


def _get_inner(context: Any, library: Any, description: Any, environment: Any) -> Any:
    if _is_kernel(library):
        name = description.qualname.split(".")[-1]
        module = description.lookup_module()
        return _make_function(module, name, "", _REFUSE, environment, (library,))
    return _get_executable(context, library, description, environment)


_Library._optimize_final_module = _optimise_entry
_Library._finalize_final_module = _make_code_of_others
_Context.get_executable = _get_inner
