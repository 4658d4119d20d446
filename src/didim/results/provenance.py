"""Where a result comes from: versions, settings and a hash of the data."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from didim.signals.experiment import Experiment
from didim.signals.trajectory import Trajectory


def provenance(settings: object, experiments: Sequence[Experiment]) -> dict[str, Any]:
    """Settings of the method, versions of what computed, and what it computed on."""
    return {
        "settings": described(settings),
        "versions": dict(versions()),
        "data": hashed(experiments),
    }


@cache
def versions() -> dict[str, str]:
    """Of Python and of what computed; read once, since looking them up takes as long as a short
    simulation.
    """
    packages = {name: metadata.version(name) for name in ("didim", "numpy", "scipy", "numba")}
    return {"python": platform.python_version(), **packages}


def hashed(experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
    """Name, size and hash of each record."""
    return [
        {"name": each.name, "samples": int(np.size(each.t)), "sha256": data_hash(each)}
        for each in experiments
    ]


def data_hash(experiment: Experiment) -> str:
    """SHA-256 over the times, torques, positions and the reference at those times."""
    digest = hashlib.sha256()
    reference = experiment.q_ref
    if isinstance(reference, Trajectory):
        reference = reference.positions(np.asarray(experiment.t))
    for signal in (experiment.t, experiment.tau, experiment.q, experiment.dq, reference):
        digest.update(
            b"-"
            if signal is None
            else np.ascontiguousarray(np.asarray(signal, dtype="<f8")).tobytes()
        )
    return digest.hexdigest()


def described(value: Any) -> Any:
    """A setting as JSON can hold it: numbers, lists and texts; objects by their fields or their own
    description.
    """
    if isinstance(value, np.ndarray | np.generic):
        return described(value.tolist())
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    if isinstance(value, dict):
        return {str(key): described(each) for key, each in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and type(value).__repr__ is object.__repr__:
        return {each.name: described(getattr(value, each.name)) for each in fields(value)}
    return repr(value)
