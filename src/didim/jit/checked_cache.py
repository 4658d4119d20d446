"""A checksum in each file of Numba's cache: machine code with a flipped bit is compiled anew, since
running it ends the process.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import Any

from numba.core import caching

_File: Any = caching.IndexDataCacheFile


class _CheckedFile(_File):  # type: ignore[misc]  # Numba has no types
    """Index and code of one function, with the SHA-256 of the rest at the end of each file, where
    pickle does not read it.
    """

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


def add_checksums(dispatcher: Any) -> str:
    """Let the cache of a dispatcher write and check checksums; returns the pattern of the names of
    its files.
    """
    cache = dispatcher._cache
    base = cache._impl.filename_base
    cache._cache_file = _CheckedFile(
        cache_path=cache.cache_path,
        filename_base=base,
        source_stamp=cache._impl.locator.get_source_stamp(),
    )
    return f"{escape(base)}.*nb[ic]"


def _check(file: Path) -> None:
    """Refuse a file that is not as it was written; one that is missing is not in the cache."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return
    digest = hashlib.sha256().digest_size
    if hashlib.sha256(content[:-digest]).digest() != content[-digest:]:
        raise ValueError(f"{file.name} has another checksum")
