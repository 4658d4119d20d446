"""`didim export`: an identified model as a robot file or as code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import didim
from didim.cli.shared.options import add_file, add_force, add_project, add_result
from didim.cli.shared.outputs import OVERWRITE_HINT
from didim.errors import InputError
from didim.output import free, refuse_inputs, write

if TYPE_CHECKING:
    from didim.results import Estimate

DESCRIPTION = (
    "The ending of the file decides: .urdf, .xml (MJCF) or .toml for a robot, .py or .c for a "
    "function without dependencies that computes the identified torques. A robot that is not "
    "physical is refused without --project; code of it is written with a warning."
)
EXAMPLES = """
didim export result.json --out identified.urdf --like arm.urdf
didim export result.json --out identified.urdf --project
didim export result.json --out identified.xml --like robot.xml
didim export result.json --table
didim export result.json --out inverse_dynamics.py
didim export result.json --out inverse_dynamics.c
"""

_CODE = {".py": "python", ".c": "c"}
_ROBOT = (".urdf", ".xml", ".toml")
_LIKE = (".urdf", ".xml")


def arguments(command: argparse.ArgumentParser) -> None:
    """A result, and what to write or print."""
    add_result(command)
    add_file(command, "--out", help=".urdf, .xml, .toml, .py or .c")
    add_file(
        command,
        "--like",
        help="the URDF or MJCF that the robot came from: keep its links, names, fixed frames and "
        "meshes, and replace values only",
    )
    command.add_argument(
        "--stiff-friction",
        action="store_true",
        help="let joints of the written MJCF creep less (solreffriction)",
    )
    command.add_argument(
        "--table",
        action="store_true",
        help="print armature, damping, friction loss and gains of each joint, for any simulator",
    )
    add_project(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Write the file of the kind that its ending names; status 1 if the identification had not
    converged.
    """
    from didim.export.code import torque_only
    from didim.results.store import files_of_result
    from didim.robot.armature import armature_note

    if options.out is None:
        if not options.table or options.like is not None:
            raise InputError("Name the file to write (--out FILE), or print a table (--table).")
        estimate = didim.load_estimate(options.result)
        _print_table(estimate, options.project)
        return _status(estimate)
    file = Path(options.out)
    kind = file.suffix.lower()
    if kind not in (*_CODE, *_ROBOT):
        raise InputError(f"{file}: must end in {', '.join((*_ROBOT, *_CODE))}.")
    free(file, options.force, OVERWRITE_HINT)
    source = [] if options.like is None else [Path(options.like)]
    refuse_inputs([file], [*files_of_result(Path(options.result)), *source])
    estimate = didim.load_estimate(options.result)
    if options.like is not None and kind not in _LIKE:
        raise InputError(f"{file}: --like is for {' and '.join(_LIKE)} files.")
    if kind in _ROBOT:
        robot = estimate.to_robot(
            file,
            overwrite=options.force,
            like=options.like,
            project=options.project,
            stiff_friction=options.stiff_friction,
        )
    else:
        if options.project:
            raise InputError(f"{file}: --project is for robot files ({', '.join(_ROBOT)}).")
        write(
            {file: didim.inverse_dynamics_code(estimate, _CODE[kind]).encode()},
            options.force,
            OVERWRITE_HINT,
        )
        if not estimate.consistency.physical:
            print(f"didim: warning: {torque_only(estimate)}", file=sys.stderr)
    print(f"Written: {file}")
    if kind == ".urdf" and (note := armature_note(robot)):
        print(note)
    if options.table:
        _print_table(estimate, options.project)
    return _status(estimate)


def _print_table(estimate: Estimate, project: bool) -> None:
    """The numbers of the joints for other simulators, and what these cannot express."""
    table = estimate.simulator_table(project)
    print(table)
    for line in table.left_out:
        print(f"didim: warning: simulators without that effect: {line}", file=sys.stderr)


def _status(estimate: Estimate) -> int:
    """1, with a warning, if the identification had not converged."""
    if estimate.status != "converged":
        print(
            f"didim: warning: the identification ended {estimate.status!r}: {estimate.message}",
            file=sys.stderr,
        )
        return 1
    return 0
