"""Numba's cache, with a checksum in each file: machine code with a flipped bit is compiled anew,
since running it ends the process.

Numba stores the bitcode of an entry beside its machine code, for callers that inline it, and sets
its compiler up before it reads either. Entries have no compiled callers: their bitcode is replaced
by the names that it defines, and the compiler waits until something is compiled. Both take longer
than all the rest of reading the kernels.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from llvmlite import binding, ir
from numba.core import caching

_File: Any = caching.IndexDataCacheFile
_Cache: Any = caching.FunctionCache


class _CheckedFile(_File):  # type: ignore[misc]  # Numba has no types
    """Index and code of one function, with the SHA-256 of the rest at the end of each file, where
    pickle does not read it.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write what a compiled function is rebuilt from."""
        (name, kind, (code, bitcode)), *others = data
        super().save(key, ((name, kind, (code, _names_in(bitcode))), *others))

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _load_index(self) -> Any:
        _check(Path(self._index_path))
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        _check(Path(self._data_path(name)))
        return super()._load_data(name)


class CheckedCache(_Cache):  # type: ignore[misc]
    """The files of one entry, for its dispatcher."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = _CheckedFile(
            cache_path=self.cache_path,
            filename_base=base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self.files = f"{escape(base)}.*nb[ic]"
        """Pattern of their names."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """What was compiled for the signature; None if it is not in the cache."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)


def _names_in(bitcode: bytes) -> bytes:
    """Bitcode that defines the same names, which Numba looks functions up by, and nothing else."""
    full, names = binding.parse_bitcode(bitcode), ir.Module()
    for each in (*full.functions, *full.global_variables):
        if not each.is_declaration:
            ir.GlobalVariable(names, ir.IntType(8), each.name).initializer = ir.IntType(8)(0)
    return bytes(binding.parse_assembly(str(names)).as_bitcode())


def _check(file: Path) -> None:
    """Refuse a file that is not as it was written; one that is missing is not in the cache."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return
    digest = hashlib.sha256().digest_size
    if hashlib.sha256(content[:-digest]).digest() != content[-digest:]:
        raise ValueError(f"{file.name} has another checksum")
