"""`load_robot`: a robot by its shipped name or from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from os import PathLike
from pathlib import Path

from didim.errors import InputError, nearest, shortened
from didim.reading import read_bytes
from didim.robot.dh import read_dh
from didim.robot.hold import JointChoice, joint_choice
from didim.robot.mjcf.read import read_mjcf
from didim.robot.mjcf.tree import is_mjcf
from didim.robot.passive import with_passive
from didim.robot.robot import Robot
from didim.robot.urdf.read import read_urdf


def read_xml(path: Path, choice: JointChoice) -> Robot:
    """The robot of an MJCF or URDF file, whichever its root element says."""
    reader = read_mjcf if is_mjcf(read_bytes(path), path.name) else read_urdf
    return reader(path, choice)


_READERS = {
    ".toml": read_dh,
    ".urdf": read_urdf,
    ".xacro": read_urdf,
    ".xml": read_xml,
    ".mjcf": read_mjcf,
}


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots that come with didim."""
    folder = resources.files("didim.robot") / "shipped"
    return tuple(
        sorted(
            item.name.removesuffix(".toml")
            for item in folder.iterdir()
            if item.name.endswith(".toml")
        )
    )


def load_robot(
    source: str | PathLike[str],
    joints: Sequence[str] | None = None,
    lock: Mapping[str, float] | None = None,
    passive: Sequence[str] | None = None,
) -> Robot:
    """A robot by shipped name ("scara", "tx40", ...) or from a .toml (modified DH), .urdf or
    .xml (MJCF, with the extra `mujoco`) file.

    Parameters
    ----------
    source
        A shipped name, or a path. A name without a suffix is looked up among the shipped robots
        only.
    joints
        The joints that move; all others are held, at 0 or where `lock` says, but for those that
        follow one of them (mimic). None: all that `lock` does not name. The order of the joints
        stays that of the file.
    lock
        Joints that are held, and where, rad or m: their links belong to the links that carry them.
    passive
        Joints that move without a motor: their torque is zero.
    """
    if not isinstance(source, str | PathLike) or isinstance(source, bytes):
        raise InputError(f"load_robot takes a name or a path, found {shortened(source)}.")
    choice = joint_choice(joints, lock)
    if str(source) in shipped_robots():
        with resources.as_file(
            resources.files("didim.robot") / "shipped" / f"{source}.toml"
        ) as file:
            return with_passive(read_dh(file, choice), passive)
    path = Path(source)
    label = shortened(str(source), 200)
    reader = _READERS.get(path.suffix.lower())
    try:
        if reader is None and (path.suffix or path.exists()):
            raise InputError(f"{label}: a robot file must end in .toml, .urdf or .xml.")
        if reader is None:
            raise InputError(
                f"No shipped robot is called {label}; {nearest(str(source)[:80], shipped_robots())}"
            )
        if not path.is_file():
            reason = "this is no regular file" if path.exists() else "no such file"
            reason = "this is a folder, not a file" if path.is_dir() else reason
            raise InputError(f"{label}: {reason}.")
        return with_passive(reader(path, choice), passive)
    except InputError as problem:
        if path.name in str(problem) or label in str(problem):
            raise
        raise InputError(f"{path.name}: {problem}") from None
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{label}: cannot be read: {getattr(problem, 'strerror', None) or problem}."
        ) from None
