"""Kernels: how they are declared, compiled, cached and announced.

A kernel is a function for Numba in a module below a `kernels` package. There are three sorts:

- `@kernel`: called by other kernels only; compiled into its caller.
- `@entry(signature)`: called from Python; one explicit signature, compiled at its first call, never
  at import.
- `@by_address(signature)`: called by other kernels by its address, compiled apart from them when
  its address is first needed: what only some runs need, or what several entries share.

What is compiled is an object file in the cache folder, see `cache`: it is loaded without Numba,
whose import takes as long as a small study. No fastmath, no parallel reductions, no module state,
and the GIL is released: runs are bit-identical and safe from threads.
"""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

from didim.jit.cache import KERNEL, CodeFile, cache_folder, kernel_sources, log
from didim.jit.called import CalledWithWords
from didim.jit.deferred import COMPILER, InnerKernel
from didim.jit.processor import LoadedCode
from didim.jit.types import Signature
from didim.threads import kept_by_forks

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
SYMBOL = "kernel"
"""Name of the function in an object file."""
RUNS_ALONE, NEEDS_NUMBA = b"a", b"n"
"""First byte of a file: whether the code calls functions that come with Numba."""
waiting: list[Callable[[Entry[..., Any]], None]] = []
"""Called with an entry that the cache lacks, before it is compiled; see `ahead`."""
_entries: list[Entry[..., Any]] = []
_lock = threading.RLock()
kept_by_forks(_lock)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel: callable from other kernels, always inlined into them."""
    return _inner(function, forceinline=True)


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel that LLVM inlines where it pays: for large ones that are handed
    little. Numba hands the options of a caller on, so within a `@kernel` it is always inlined.
    """
    return _inner(function)


def spliced(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel whose source is spliced into its caller: for those that are handed
    whole records of arrays.
    """
    return _inner(function, inline="always")


def _inner(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    _must_live_in_kernels(function)
    return cast(Callable[P, R], InnerKernel(function, **options))


def entry(signature: Signature, name: str | None = None) -> Callable[[Callable[P, R]], Entry[P, R]]:
    """Declare a kernel that Python calls, with the one signature that it is compiled for; by
    default under its name.
    """

    def declare(function: Callable[P, R]) -> Entry[P, R]:
        _must_live_in_kernels(function)
        return Entry(function, signature, name or function.__name__)

    return declare


def by_address(signature: Signature) -> Callable[[Callable[P, R]], AddressEntry[P, R]]:
    """Declare a kernel that others call by its address (`function_pointers`), with the one C
    signature that it is compiled for: numbers, and pointers that `array_at` makes arrays of.
    """

    def declare(function: Callable[P, R]) -> AddressEntry[P, R]:
        _must_live_in_kernels(function)
        return AddressEntry(function, signature, function.__name__)

    return declare


class Entry(Generic[P, R]):
    """A compiled function that is built, or read from the cache, when it is first called."""

    _make = "entry_code"
    """What of the compiler's `kernels` makes its object file."""

    def __init__(self, function: Callable[P, R], signature: Signature, name: str) -> None:
        functools.update_wrapper(self, function)
        self.name = f"{function.__module__}.{name}"
        self.seconds: float | None = None
        self._function = function
        self._signature = signature
        self._code: LoadedCode | None = None
        self._called: CalledWithWords | None = None
        _entries.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled function; its arguments have no names."""
        assert not kwargs, f"{self.name} is called with names of arguments"
        if self._called is None:
            self._called = CalledWithWords(self.compile().address, self._signature, self._function)
        return cast(R, self._called(args))

    def compile(self) -> LoadedCode:
        """Compile for the declared signature, or load what an earlier process compiled."""
        with _lock:
            if self._code is None:
                sort, code = self._built()
                if sort == NEEDS_NUMBA:
                    _compiler().define_names()
                self._code = LoadedCode(code, SYMBOL)
            return self._code

    @property
    def cached(self) -> bool:
        """Whether it is compiled: here, or by another process into the cache."""
        return self._code is not None or self.stored

    @property
    def stored(self) -> bool:
        """Whether the cache has it."""
        return self._file.exists()

    @property
    def _file(self) -> CodeFile:
        return CodeFile(cache_folder(), f"{self.name}{KERNEL}")

    def _built(self) -> tuple[bytes, bytes]:
        """One byte that says whether the code runs alone, and the code."""
        for wait in waiting:
            wait(self)
        start = time.perf_counter()
        content = self._file.read()
        if content is None:
            log.info("compiling %s; this happens once per machine and version", self.name)
            make = getattr(_compiler(), self._make)
            code, alone = make(self._function, self._signature, SYMBOL)
            content = (RUNS_ALONE if alone else NEEDS_NUMBA) + code
            self._file.write(content)
        self.seconds = time.perf_counter() - start
        return content[:1], content[1:]


class AddressEntry(Entry[P, R]):
    """A compiled function that other compiled functions call by its address."""

    _make = "c_code"

    @property
    def address(self) -> int:
        """Where the compiled function lies in memory, for the life of the process."""
        return self.compile().address


def _compiler() -> Any:
    return importlib.import_module(f"{COMPILER}.kernels")


def warm() -> dict[str, float]:
    """Compile every kernel of the package; returns the seconds that each took."""
    for source in kernel_sources():
        module = ".".join(source.relative_to(_PACKAGE.parent).with_suffix("").parts)
        importlib.import_module(module.removesuffix(".__init__"))
    for each in _entries:
        each.compile()
    return {each.name: each.seconds or 0.0 for each in _entries}


def is_stored() -> bool:
    """Whether the cache has all kernels that are declared so far."""
    return all(each.stored for each in _entries)


def _must_live_in_kernels(function: Callable[..., Any]) -> None:
    if ".kernels." not in function.__module__:
        raise TypeError(
            f"{function.__module__}.{function.__name__} must live in a 'kernels' package to be "
            "cached safely"
        )
