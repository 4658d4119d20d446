"""The options --joints and --lock: which joints of a robot move, and where the others are held."""

from __future__ import annotations

import argparse

from didim.errors import InputError


def add_joints(command: argparse.ArgumentParser) -> None:
    """--joints and --lock."""
    command.add_argument(
        "--joints",
        metavar="LIST",
        help="comma-separated names of the joints that move; the others are held",
    )
    command.add_argument(
        "--lock",
        metavar="JOINT=POSITION",
        action="append",
        default=[],
        help="hold a joint there, rad or m (default of joints that do not move: 0); repeatable",
    )


def joint_options(options: argparse.Namespace) -> tuple[list[str] | None, dict[str, float]]:
    """The arguments `joints` and `lock` of `load_robot`."""
    joints = None
    if options.joints is not None:
        joints = [name.strip() for name in options.joints.split(",") if name.strip()]
    return joints, dict(map(_locked, options.lock))


def _locked(text: str) -> tuple[str, float]:
    from didim.robot.fields import radians_of

    name, _, position = text.rpartition("=")
    try:
        value = float(position)
    except ValueError:
        found = radians_of(position)
        if not name.strip() or not isinstance(found, float):
            raise InputError(
                f"--lock {text}: give a joint and its position, such as wheel=0.0 or "
                "'elbow=90 deg'."
            ) from None
        value = found
    return name.strip(), value
