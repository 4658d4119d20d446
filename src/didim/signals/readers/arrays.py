"""Files of named arrays: NPZ and MATLAB's MAT, versions 5 and 7.3. Nothing in them is executed, and
no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.errors import InputError
from didim.reading import check_npz, refuse_too_many
from didim.signals.readers.mat5 import HEADER, MAX_DEPTH, mat5_arrays

Table = dict[str, NDArray[np.float64]]


def read_npz(file: Path) -> Table:
    """The numeric arrays of an NPZ file."""
    try:
        with file.open("rb") as opened:
            check_npz(opened, file.name)
            with np.load(opened, allow_pickle=False) as content:
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
    refuse_too_many(file.stat().st_size / 8, file.name)
    with file.open("rb") as opened:
        head = opened.read(HEADER)
    if head.startswith(b"MATLAB 7.3 MAT-file") or b"\2" in head[124:126]:
        return _read_mat73(file)
    if b"\0" in head[:4]:
        return _numeric(_version_4(file), file)
    return _numeric(mat5_arrays(file.read_bytes(), file.name), file)


def _version_4(file: Path) -> Iterator[tuple[str, Any]]:
    """The arrays of a MAT file of version 4."""
    from scipy import io

    try:
        content = io.loadmat(BytesIO(file.read_bytes()), squeeze_me=False)
    except (ValueError, TypeError, NotImplementedError, io.matlab.MatReadError) as problem:
        raise InputError(
            f"{file.name}: is not a MAT file: {str(problem).splitlines()[0]}."
        ) from None
    yield from ((name, value) for name, value in content.items() if not name.startswith("__"))


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
            nodes = dict(_datasets(content, "", h5py, set()))
            refuse_too_many(sum(float(node.size) for node in nodes.values()), file.name)
            return _numeric(((name, np.asarray(node).T) for name, node in nodes.items()), file)
    except (OSError, RuntimeError, KeyError) as problem:
        raise InputError(
            f"{file.name}: is not a MAT file: {str(problem).splitlines()[0]}."
        ) from None


def _datasets(
    group: Any, path: str, h5py: Any, seen: set[int], depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """The datasets of a file of version 7.3, not yet read; links out of the file are left alone."""
    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        node = group[name]
        if (place := h5py.h5o.get_info(node.id).addr) in seen:
            continue
        seen.add(place)
        if isinstance(node, h5py.Group):
            if depth < MAX_DEPTH:
                yield from _datasets(node, f"{path}{name}.", h5py, seen, depth + 1)
        elif (
            isinstance(node, h5py.Dataset)
            and node.shape
            and node.dtype.kind in "fiu"
            and _is_plain(node)
        ):
            yield f"{path}{name}", node


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
