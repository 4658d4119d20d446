"""Files of named arrays: NPZ and MATLAB's MAT, versions 5 and 7.3. Nothing in them is executed, and
no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError

Table = dict[str, NDArray[np.float64]]

_MAX_DEPTH = 8
"""Of structures within structures."""


def read_npz(file: Path) -> Table:
    """The numeric arrays of an NPZ file."""
    try:
        with file.open("rb") as opened:
            content = np.load(opened, allow_pickle=False)
            if not isinstance(content, np.lib.npyio.NpzFile):
                raise InputError(f"{file.name}: is not an NPZ file.")
            with content:
                return _numeric(((name, content[name]) for name in content.files), file)
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{file.name}: holds objects other than plain arrays, or is not an NPZ file; "
            "nothing in it is executed."
        ) from None


def read_mat(file: Path) -> Table:
    """The numeric arrays of a MAT file; fields of a structure are called "structure.field"."""
    from scipy import io

    with file.open("rb") as start:
        if start.read(19) == b"MATLAB 7.3 MAT-file":
            return _read_mat73(file)
    try:
        content = io.loadmat(file, squeeze_me=False)
    except NotImplementedError:  # how SciPy says that a file is of version 7.3
        return _read_mat73(file)
    except (ValueError, TypeError, io.matlab.MatReadError) as problem:
        raise InputError(
            f"{file.name}: is not a MAT file: {str(problem).splitlines()[0]}."
        ) from None
    named = ((name, value) for name, value in content.items() if not name.startswith("__"))
    return _numeric((pair for name, value in named for pair in _fields(name, value)), file)


def _fields(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """An array of version 5, or those of the fields of a single structure."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    if not names:
        yield name, value
    elif value.size == 1 and depth < _MAX_DEPTH:
        for each in names:
            yield from _fields(f"{name}.{each}", value.reshape(-1)[0][each], depth + 1)


def _read_mat73(file: Path) -> Table:
    try:
        import h5py
    except ImportError:
        raise InputError(
            f'{file.name}: a MAT file of version 7.3 needs h5py: pip install "didim[files]" (or '
            "save it with -v7)."
        ) from None
    try:
        with h5py.File(file, "r") as content:
            return _numeric(_datasets(content, "", h5py, set()), file)
    except (OSError, RuntimeError, KeyError) as problem:
        raise InputError(
            f"{file.name}: is not a MAT file: {str(problem).splitlines()[0]}."
        ) from None


def _datasets(
    group: Any, path: str, h5py: Any, seen: set[int], depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """The datasets of a file of version 7.3, which holds every matrix transposed; links out of the
    file are left alone.
    """
    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        node = group[name]
        if (place := h5py.h5o.get_info(node.id).addr) in seen:
            continue
        seen.add(place)
        if isinstance(node, h5py.Group):
            if depth < _MAX_DEPTH:
                yield from _datasets(node, f"{path}{name}.", h5py, seen, depth + 1)
        elif (
            isinstance(node, h5py.Dataset)
            and node.shape
            and node.dtype.kind in "fiu"
            and _is_plain(node)
        ):
            yield f"{path}{name}", np.asarray(node).T


def _is_plain(node: Any) -> bool:
    """Whether a dataset holds numbers, all of them in this file."""
    kind = node.attrs.get("MATLAB_class", "double")
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    elsewhere = node.external or node.is_virtual
    return (
        kind not in ("char", "logical", "cell")
        and "MATLAB_empty" not in node.attrs
        and not elsewhere
    )


def _numeric(content: Iterator[tuple[str, Any]], file: Path) -> Table:
    """The numeric arrays of one or two dimensions; rows and columns of MATLAB become (N,)."""
    table = {
        name: np.asarray(value, dtype=np.float64).reshape(-1)
        if 1 in value.shape
        else np.asarray(value, dtype=np.float64)
        for name, value in content
        if isinstance(value, np.ndarray)
        and value.dtype.kind in "fiu"
        and value.ndim in (1, 2)
        and value.size
    }
    if not table:
        raise InputError(f"{file.name}: there is no array of numbers in it.")
    return table
