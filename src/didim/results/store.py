"""Saving and loading: x.json for people and programs, x.npz for the arrays. No pickle, no nan,
nothing lost silently.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from didim.errors import InputError, shortened
from didim.output import Overwrite, free, staged, write
from didim.reading import check_npz, read_bytes
from didim.results.estimate import Estimate
from didim.results.estimate_data import ARRAYS, OPTIONAL_ARRAYS, current, estimate_data, estimate_of
from didim.results.serialisation import history_arrays

FORMAT = 2
"""Of files that are written; 1 is read too."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


def save(estimate: Estimate, path: str | PathLike[str], overwrite: Overwrite = False) -> Path:
    """Write `path` (.json) and the .npz beside it; returns the path of the first.

    The JSON file comes first and names the hash of the arrays, which wait under a name that tells
    it: killed at any time, the pair is the old one or the new one.
    """
    file = _named(path)
    file, other = (free(each, overwrite) for each in files_of_result(file))
    arrays = {name: getattr(estimate, name) for name in ARRAYS} | history_arrays(estimate.history)
    for name in OPTIONAL_ARRAYS:
        if (array := getattr(estimate, name)) is not None:
            arrays[name] = array
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    text = json.dumps(
        {"didim_estimate": FORMAT, "npz_sha256": digest, **estimate_data(estimate)},
        indent=1,
        allow_nan=False,
    )
    write({file: text.encode(), other: packed.getvalue()}, overwrite)
    return file


def load_estimate(path: str | PathLike[str]) -> Estimate:
    """The estimate that `Estimate.save` wrote."""
    file = _named(path)
    try:
        data = json.loads(read_bytes(file), parse_constant=_refuse_constant)
        if not isinstance(data, dict) or "didim_estimate" not in data:
            raise InputError(f"{file.name}: is no saved estimate.")
        if data["didim_estimate"] not in (1, FORMAT):
            raise InputError(
                f"{file.name}: was written in format {shortened(data['didim_estimate'])}, this "
                f"version reads {FORMAT}; update didim."
            )
        packed = _arrays_of(file, data.get("npz_sha256"))
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"{problem.filename}: cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file.name}: is no JSON file: {str(problem).splitlines()[0]}.") from None
    try:
        opened = io.BytesIO(packed)
        check_npz(opened, file.with_suffix(".npz").name)
        with np.load(opened, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        return estimate_of(current(data), arrays)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        IndexError,
        RecursionError,
        zipfile.BadZipFile,
    ) as problem:
        raise InputError(
            f"{file.name}: is damaged: {type(problem).__name__} {shortened(str(problem))}."
        ) from None


def files_of_result(file: Path) -> tuple[Path, ...]:
    """The files that belong to a path: itself, and the arrays of a saved result."""
    return (file, file.with_suffix(".npz")) if file.suffix.lower() == ".json" else (file,)


def _arrays_of(file: Path, digest: object) -> bytes:
    """The content of the .npz file that belongs to a .json file: the one beside it, or the one that
    still waits there to be moved.
    """
    beside = file.with_suffix(".npz")
    known = isinstance(digest, str) and _DIGEST.fullmatch(digest)
    waiting = [place] if known and (place := staged(beside, str(digest))).is_file() else []
    for place in (*waiting, beside):
        packed = read_bytes(place)
        if hashlib.sha256(packed).hexdigest() == digest:
            return packed
    raise InputError(f"{beside.name}: does not belong to {file.name}, or was changed.")


def _refuse_constant(word: str) -> None:
    raise ValueError(f"JSON has no {word}")


def _named(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike):
        raise InputError(f"An estimate is saved under a path, found {shortened(path)}.")
    file = Path(path)
    if file.suffix.lower() != ".json":
        raise InputError(
            f"{file}: a saved estimate ends in .json (an .npz with its arrays lies beside it)."
        )
    return file
