"""`didim export`: an identified model as a robot file or as code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from didim.cli.init import OVERWRITE_HINT
from didim.errors import InputError
from didim.export import inverse_dynamics_code
from didim.export.code import torque_only
from didim.output import free, refuse_inputs, write
from didim.results import Estimate, load_estimate
from didim.results.store import files_of_result
from didim.robot.armature import armature_note

_CODE = {".py": "python", ".c": "c"}
_ROBOT = (".urdf", ".xml", ".toml")
_LIKE = (".urdf", ".xml")


def run(options: argparse.Namespace) -> int:
    """Write the file of the kind that its ending names; status 1 if the identification had not
    converged.
    """
    if options.out is None:
        if not options.table or options.like is not None:
            raise InputError("Name the file to write (--out FILE), or print a table (--table).")
        estimate = load_estimate(options.result)
        _print_table(estimate, options.project)
        return _status(estimate)
    file = Path(options.out)
    kind = file.suffix.lower()
    if kind not in (*_CODE, *_ROBOT):
        raise InputError(f"{file}: must end in {', '.join((*_ROBOT, *_CODE))}.")
    free(file, options.force, OVERWRITE_HINT)
    source = [] if options.like is None else [Path(options.like)]
    refuse_inputs([file], [*files_of_result(Path(options.result)), *source])
    estimate = load_estimate(options.result)
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
            {file: inverse_dynamics_code(estimate, _CODE[kind]).encode()},
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
