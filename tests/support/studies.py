"""A small study that tests write and then break: the virtual SCARA, a CSV, IDIM (no simulation)."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from support.virtual import model

STUDY: dict[str, Any] = {
    "robot": "scara",
    "method": "idim",
    "experiment": [
        {
            "file": "run.csv",
            "columns": {"t": "t", "tau": "tau*", "q": ["q1", "q2"], "q_ref": "r{j}"},
        }
    ],
    "controller": {"law": "pd", "natural_frequency": [20.0, 50.0]},
    "idim": {"decimation": 4},
    "didim": {"decimation": 4},
}


@cache
def table(seconds: float = 8.0) -> dict[str, np.ndarray]:
    """Signals of the SCARA on a smooth path: exact torques of the nominal model, reference equal to
    the motion.
    """
    import didim

    scara = model()
    trajectory = didim.Fourier.random(scara.robot, 3, period=seconds, harmonics=5)
    t = np.arange(0, seconds, 0.01)
    q, dq, ddq = trajectory.sample(t)
    tau = scara.inverse_dynamics(q, dq, ddq, scara.nominal)
    return {
        "t": t,
        "tau1": tau[:, 0],
        "tau2": tau[:, 1],
        "q1": q[:, 0],
        "q2": q[:, 1],
        "r1": q[:, 0],
        "r2": q[:, 1],
    }


def write_csv(path: Path, columns: dict[str, np.ndarray] | None = None) -> Path:
    columns = table() if columns is None else columns
    rows = np.column_stack(list(columns.values()))
    np.savetxt(path, rows, "%.12g", ",", header=",".join(columns), comments="")
    return path


def study(**changes: Any) -> dict[str, Any]:
    """The study with keys changed: dotted paths with "__" for the dots; None removes a key."""
    data = copy.deepcopy(STUDY)
    for path, value in changes.items():
        *way, last = path.split("__")
        node: Any = data
        for part in way:
            node = node[int(part)] if isinstance(node, list) else node.setdefault(part, {})
        if value is None:
            node.pop(last)
        else:
            node[last] = value
    return data


def toml(data: dict[str, Any]) -> str:
    """Plain data as TOML: inline tables all through, which JSON nearly is."""
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in data.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def write_study(folder: Path, data: dict[str, Any] | None = None, name: str = "study.toml") -> Path:
    """The study and its record in a folder."""
    if not (folder / "run.csv").exists():
        write_csv(folder / "run.csv")
    path = folder / name
    path.write_text(toml(STUDY if data is None else data), encoding="utf-8")
    return path
