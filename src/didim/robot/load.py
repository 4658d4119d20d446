"""`load_robot`: a robot by its shipped name or from a file."""

from __future__ import annotations

from importlib import resources
from os import PathLike
from pathlib import Path

from didim.errors import InputError, nearest
from didim.robot.dh import read_dh
from didim.robot.robot import Robot
from didim.robot.urdf import read_urdf

_READERS = {".toml": read_dh, ".urdf": read_urdf, ".xml": read_urdf}


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots that come with didim."""
    folder = resources.files("didim.robot") / "shipped"
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))


def load_robot(source: str | PathLike[str]) -> Robot:
    """A robot by shipped name ("scara", "tx40", ...) or from a .toml (modified DH) or .urdf file.

    Parameters
    ----------
    source
        A shipped name, or a path. A name without a suffix is looked up among the shipped robots only.
    """
    path = Path(source)
    if str(source) in shipped_robots():
        with resources.as_file(resources.files("didim.robot") / "shipped" / f"{source}.toml") as file:
            return read_dh(file)
    if not path.suffix:
        raise InputError(f"No shipped robot is called {str(source)!r}; {nearest(str(source), shipped_robots())}")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: a robot file must end in .toml or .urdf, found {path.suffix!r}.")
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    try:
        return reader(path)
    except InputError as problem:
        if path.name in str(problem):
            raise
        raise InputError(f"{path.name}: {problem}") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}.") from None
