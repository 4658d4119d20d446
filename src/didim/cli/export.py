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
from didim.results import load_estimate
from didim.results.store import files_of_result
from didim.robot.armature import armature_note

_CODE = {".py": "python", ".c": "c"}
_ROBOT = (".urdf", ".toml")


def run(options: argparse.Namespace) -> int:
    """Write the file of the kind that its ending names; status 1 if the identification had not
    converged.
    """
    file = Path(options.out)
    kind = file.suffix.lower()
    if kind not in (*_CODE, *_ROBOT):
        raise InputError(f"{file}: must end in {', '.join((*_ROBOT, *_CODE))}.")
    free(file, options.force, OVERWRITE_HINT)
    source = [] if options.like is None else [Path(options.like)]
    refuse_inputs([file], [*files_of_result(Path(options.result)), *source])
    estimate = load_estimate(options.result)
    if options.like is not None and kind != ".urdf":
        raise InputError(f"{file}: --like is for .urdf files.")
    if kind in _ROBOT:
        robot = estimate.to_robot(
            file, overwrite=options.force, like=options.like, project=options.project
        )
    else:
        if options.project:
            raise InputError(f"{file}: --project is for .urdf and .toml files.")
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
    if estimate.status != "converged":
        print(
            f"didim: warning: the identification ended {estimate.status!r}: {estimate.message}",
            file=sys.stderr,
        )
        return 1
    return 0
