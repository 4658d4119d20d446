"""`didim export`: an identified model as a robot file or as code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from didim.cli.init import OVERWRITE_HINT
from didim.errors import InputError
from didim.export import inverse_dynamics_code
from didim.output import free, refuse_inputs, write
from didim.results import load_estimate
from didim.results.store import files_of_result

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
        estimate.to_robot(file, overwrite=options.force, like=options.like)
    else:
        write(
            {file: inverse_dynamics_code(estimate, _CODE[kind]).encode()},
            options.force,
            OVERWRITE_HINT,
        )
    print(f"Written: {file}")
    if estimate.status != "converged":
        print(
            f"didim: warning: the identification ended {estimate.status!r}: {estimate.message}",
            file=sys.stderr,
        )
        return 1
    return 0
