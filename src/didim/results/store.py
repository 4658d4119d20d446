"""Saving and loading: x.json for people and programs, x.npz for the arrays. No pickle, no nan,
nothing lost silently.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from didim.errors import InputError, shortened
from didim.output import free, write
from didim.results.estimate import Estimate
from didim.results.estimate_data import ARRAYS, current, estimate_data, estimate_of
from didim.results.serialisation import history_arrays

FORMAT = 2
"""Of files that are written; 1 is read too."""


def save(estimate: Estimate, path: str | PathLike[str], overwrite: bool = False) -> Path:
    """Write `path` (.json) and the .npz beside it, each in one move; returns the path of the
    first.
    """
    file = _named(path)
    other = file.with_suffix(".npz")
    for each in (file, other):
        free(each, overwrite)
    arrays = {name: getattr(estimate, name) for name in ARRAYS} | history_arrays(estimate.history)
    if estimate.standard is not None:
        arrays["standard"] = estimate.standard
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    text = json.dumps(
        {"didim_estimate": FORMAT, "npz_sha256": digest, **estimate_data(estimate)},
        indent=1,
        allow_nan=False,
    )
    write({other: packed.getvalue(), file: text.encode()}, overwrite)
    return file


def load_estimate(path: str | PathLike[str]) -> Estimate:
    """The estimate that `Estimate.save` wrote."""
    file = _named(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or "didim_estimate" not in data:
            raise InputError(f"{file.name}: is no saved estimate.")
        packed = file.with_suffix(".npz").read_bytes()
    except InputError:
        raise
    except OSError as problem:
        raise InputError(f"{problem.filename}: cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{file.name}: is no JSON file: {str(problem).splitlines()[0]}.") from None
    if data["didim_estimate"] not in (1, FORMAT):
        raise InputError(
            f"{file.name}: was written in format {data['didim_estimate']}, this version reads "
            f"{FORMAT}; update didim."
        )
    if hashlib.sha256(packed).hexdigest() != data.get("npz_sha256"):
        raise InputError(
            f"{file.with_suffix('.npz').name}: does not belong to {file.name}, or was changed."
        )
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        return estimate_of(current(data), arrays)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        IndexError,
        zipfile.BadZipFile,
    ) as problem:
        raise InputError(
            f"{file.name}: is damaged: {type(problem).__name__} {shortened(str(problem))}."
        ) from None


def _named(path: str | PathLike[str]) -> Path:
    if not isinstance(path, str | PathLike):
        raise InputError(f"An estimate is saved under a path, found {shortened(path)}.")
    file = Path(path)
    if file.suffix.lower() != ".json":
        raise InputError(
            f"{file}: a saved estimate ends in .json (an .npz with its arrays lies beside it)."
        )
    return file
