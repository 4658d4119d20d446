"""Kernels: how they are declared, compiled, cached and announced.

A kernel is a Numba function in a module below a `kernels` package. There are three sorts:

- `@kernel`: called by other kernels only; compiled into its caller.
- `@entry(signature)`: called from Python; one explicit signature, compiled at its first call, never
  at import.
- `@by_address(signature)`: called by other kernels by its address, compiled apart from them when
  its address is first needed: what only some runs need, or what several entries share.

Numba's own cache does not notice a change in a callee that lives in another file. The cache folder
is therefore keyed by a hash over the source of all kernels and of `jit/`, the Numba version and the
processor, so that any edit is seen by every caller; each file in it carries a checksum. No
fastmath, no parallel reductions, no module state, and the GIL is released: runs are bit-identical
and safe from threads.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import logging
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import llvmlite.binding
import numba
import platformdirs
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

from didim.errors import InputError
from didim.jit.checked_cache import CheckedCache
from didim.jit.inner import inner_kernels_of

log = logging.getLogger("didim")

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_ENTRY: dict[str, Any] = {**_OPTIONS, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_ENTRY, "no_cpython_wrapper": True}
_normalised: Any = normalize_signature
waiting: list[Callable[[Entry[..., Any]], None]] = []
"""Called with an entry that the cache lacks, before it is compiled; see `ahead`."""
_entries: list[Entry[..., Any]] = []
_lock = threading.RLock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel: callable from other kernels, always inlined into them."""
    _must_live_in_kernels(function)
    dispatcher: Callable[P, R] = numba.njit(**_INNER, forceinline=True)(function)
    return dispatcher


def shared(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel that LLVM inlines where it pays: for large ones that are handed
    little. Numba hands the options of a caller on, so within a `@kernel` it is always inlined.
    """
    _must_live_in_kernels(function)
    dispatcher: Callable[P, R] = numba.njit(**_INNER)(function)
    return dispatcher


def spliced(function: Callable[P, R]) -> Callable[P, R]:
    """Declare an inner kernel whose source is spliced into its caller: for those that are handed
    whole records of arrays.
    """
    _must_live_in_kernels(function)
    dispatcher: Callable[P, R] = numba.njit(**_INNER, inline="always")(function)
    return dispatcher


def entry(signature: Any, name: str | None = None) -> Callable[[Callable[P, R]], Entry[P, R]]:
    """Declare a kernel that Python calls, with the one Numba signature that it is compiled for; by
    default under its name.
    """

    def declare(function: Callable[P, R]) -> Entry[P, R]:
        _must_live_in_kernels(function)
        return Entry(function, signature, name or function.__name__)

    return declare


def by_address(signature: Any) -> Callable[[Callable[P, R]], AddressEntry[P, R]]:
    """Declare a kernel that others call by its address (`function_pointers`), with the one C
    signature that it is compiled for: numbers, and pointers that `array_at` makes arrays of.
    """

    def declare(function: Callable[P, R]) -> AddressEntry[P, R]:
        _must_live_in_kernels(function)
        return AddressEntry(function, signature, function.__name__)

    return declare


def record_type(record: type, *fields: Any) -> Any:
    """The Numba type of a NamedTuple whose fields have the given Numba types, for signatures."""
    types: Any = numba.types
    if all(field == fields[0] for field in fields):
        return types.NamedUniTuple(fields[0], len(fields), record)
    return types.NamedTuple(fields, record)


class Entry(Generic[P, R]):
    """A compiled function that is built, or read from the cache, when it is first called."""

    def __init__(self, function: Callable[P, R], signature: Any, name: str) -> None:
        functools.update_wrapper(self, function)
        self.name = f"{function.__module__}.{name}"
        self.seconds: float | None = None
        self._function = function
        self._signature = signature
        self._compiled: Any = None
        _entries.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled function."""
        found: R = (self._compiled or self.compile())(*args, **kwargs)
        return found

    def compile(self) -> Any:
        """Compile for the declared signature, or load what an earlier process compiled."""
        with _lock:
            if self._compiled is None:
                self._compiled = self._build()
            return self._compiled

    @property
    def cached(self) -> bool:
        """Whether it is compiled: here, or by another process into the cache."""
        folder = cache_folder()
        return self._compiled is not None or (folder is not None and self._done(folder).exists())

    def _done(self, folder: Path) -> Path:
        return folder / f"{self.name}.done"

    def _dispatcher(self) -> Any:
        return numba.njit(**_ENTRY)(self._function)

    def _compile(self, dispatcher: Any) -> None:
        dispatcher.compile(self._signature)
        dispatcher.disable_compile()

    def _build(self) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            raise InputError("didim needs Numba's compiler; unset NUMBA_DISABLE_JIT.")
        for wait in waiting:
            wait(self)
        dispatcher = self._dispatcher()
        folder, done, files = cache_folder(), None, ""
        if folder is not None:
            with _numba_cache_in(folder):
                dispatcher._cache = CheckedCache(self._function)
            files = dispatcher._cache.files
            done = self._done(folder)
        if done is None or not done.exists():
            log.info("compiling %s; this happens once per machine and version", self.name)
        start = time.perf_counter()
        try:
            with _no_garbage_collection(), inner_kernels_of(self._function.__qualname__):
                self._compile(dispatcher)
        except numba.core.errors.NumbaError:
            raise
        except Exception as problem:
            stored = [] if done is None else list(done.parent.rglob(files))
            if not stored:  # it is not the cache that fails
                raise
            log.warning("the cache of compiled kernels is damaged (%r); compiling anew", problem)
            for damaged in stored:
                damaged.unlink(missing_ok=True)
            return self._build()
        self.seconds = time.perf_counter() - start
        if done is not None:
            done.touch()
        return dispatcher


class AddressEntry(Entry[P, R]):
    """A compiled function that other compiled functions call by its address."""

    @property
    def address(self) -> int:
        """Where the compiled function lies in memory, for the life of the process."""
        return int(self.compile().address)

    def _dispatcher(self) -> Any:
        return CFunc(self._function, _normalised(self._signature), {}, dict(_OPTIONS))

    def _compile(self, dispatcher: Any) -> None:
        dispatcher.compile()


def warm() -> dict[str, float]:
    """Compile every kernel of the package; returns the seconds that each took."""
    for source in kernel_sources():
        module = ".".join(source.relative_to(_PACKAGE.parent).with_suffix("").parts)
        importlib.import_module(module.removesuffix(".__init__"))
    for each in _entries:
        each.compile()
    return {each.name: each.seconds or 0.0 for each in _entries}


def kernel_sources() -> list[Path]:
    """All files that hold kernels, in a fixed order."""
    return sorted(_PACKAGE.glob("**/kernels/**/*.py"))


@functools.cache
def source_key() -> str:
    """Hash of all sources of kernels and of this package, the Numba version and the processor."""
    digest = hashlib.sha256()
    for source in [*sorted(Path(__file__).parent.glob("*.py")), *kernel_sources()]:
        digest.update(source.read_bytes())
    digest.update(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Folder of the compiled kernels: `$DIDIM_CACHE_DIR`, else the user's cache folder; None if it
    cannot be written.
    """
    root = Path(
        os.environ.get("DIDIM_CACHE_DIR") or platformdirs.user_cache_path("didim", appauthor=False)
    )
    folder = root / source_key()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        warnings.warn(
            f"didim cannot write its cache of compiled kernels ({problem}); every run will compile "
            "anew. "
            "Set DIDIM_CACHE_DIR to a folder that can be written.",
            RuntimeWarning,
            stacklevel=4,
        )
        return None
    return folder


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The compiler makes millions of objects that live until its end: looking for garbage among
    them takes a twentieth of its time.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """Numba reads its cache folder from a global; set it for our functions only."""
    config: Any = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _must_live_in_kernels(function: Callable[..., Any]) -> None:
    if ".kernels." not in function.__module__:
        raise TypeError(
            f"{function.__module__}.{function.__name__} must live in a 'kernels' package to be "
            "cached safely"
        )
