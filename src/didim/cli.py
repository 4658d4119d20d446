"""The command `didim`. Errors are one line on standard error; exit status 0: done, 1: a check failed, 2: bad input."""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from didim import __version__
from didim.errors import InputError


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line as well."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and stop with status 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    _announce_compiling()
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except (InputError, OSError) as problem:
        if getattr(options, "debug", False):
            traceback.print_exc()
        print(f"didim: error: {problem}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    description = "Identify the dynamics of a robot from its joint torques."
    parser = _Parser(prog="didim", description=description, parents=[common])
    parser.add_argument("--version", action="version", version=f"didim {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    base = commands.add_parser(
        "base",
        parents=[common],
        help="print the base parameters of a robot",
        description="Print the base parameters of a robot, what they regroup and their nominal values.",
        epilog="examples: didim base scara; didim base arm.urdf --effects rotor,viscous,coulomb; didim base tx40 --json",
    )
    base.add_argument("robot", metavar="ROBOT", help="a shipped robot's name, or a .toml or .urdf file")
    base.add_argument(
        "--effects",
        metavar="LIST",
        help="comma-separated: rotor viscous coulomb offset coupling asymmetric_viscous asymmetric_coulomb, or none; "
        "default: what the robot declares",
    )
    base.add_argument("--json", action="store_true", help="one JSON object on standard output")
    base.set_defaults(run=_base)
    _add_demo(commands, common)
    _add_paper(commands, common)
    return parser


def _add_demo(commands: Any, common: argparse.ArgumentParser) -> None:
    demo = commands.add_parser(
        "demo",
        parents=[common],
        help="identify a virtual SCARA with IDIM and DIDIM",
        description="Record a virtual SCARA, identify it with IDIM and DIDIM, print the table and draw the torques.",
        epilog="examples: didim demo; didim demo --picture torques.png",
    )
    demo.add_argument(
        "--picture", metavar="FILE", default="didim-demo.png", help="where the picture goes (default %(default)s)"
    )
    demo.add_argument("--force", action="store_true", help="write over an existing file")
    demo.set_defaults(run=_demo)


def _add_paper(commands: Any, common: argparse.ArgumentParser) -> None:
    paper = commands.add_parser(
        "paper",
        parents=[common],
        help="run the paper's experiments on a virtual SCARA",
        description="Run the experiments of section VI on a virtual SCARA: Tables 1-9 beside the printed ones, Figures 10-15, "
        "and which claims hold here.",
        epilog="examples: didim paper; didim paper --table 5; didim paper --figures pictures",
    )
    paper.add_argument("--table", type=int, metavar="N", help="one table only, 1 to 9")
    paper.add_argument("--figures", metavar="FOLDER", help="draw Figures 10-15 there (default, without --table: didim-paper)")
    paper.add_argument("--seed", type=int, default=0, metavar="N", help="of the noise (default 0)")
    paper.add_argument("--force", action="store_true", help="write over existing files")
    paper.set_defaults(run=_paper)


def _effects(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [word for word in text.replace(",", " ").split() if word != "none"]


def _base(options: argparse.Namespace) -> int:
    from didim.dynamics import DynamicModel
    from didim.robot import load_robot
    from didim.robot.inertia import is_consistent

    model = DynamicModel(load_robot(options.robot), _effects(options.effects))
    base = model.base
    rows = [
        (name, base.formulas[name], float(value) if math.isfinite(value) else None)
        for name, value in zip(base.parameter_names, base.nominal, strict=True)
    ]
    if options.json:
        parameters = [{"name": name, "formula": formula, "nominal": value} for name, formula, value in rows]
        print(json.dumps({"robot": model.robot.name, "parameters": parameters}, indent=2))
        return 0
    width = max((len(name) for name, _, _ in rows), default=4)
    counts = f"{len(model.parameter_names)} standard parameters, {len(rows)} base parameters"
    print(f"{model.robot.name}: {model.robot.n} joints, {counts}")
    print(f"\n{'name':<{width}}  {'nominal':>12}  regroups")
    for name, formula, value in rows:
        print(f"{name:<{width}}  {'-' if value is None else format(value, '.6g'):>12}  {formula}")
    if base.defect > 1e-9:
        print(f"\nNote: angles of this robot look rounded; the base parameters reproduce its torque to {base.defect:.1e}.")
    for joint in model.robot.joints:
        if not any(map(math.isnan, joint.link)) and not is_consistent(joint.link):
            print(f"\nNote: no body can have the nominal inertial parameters of the link of joint {joint.name!r}.")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from didim.demo import demo
    from didim.report.files import check_free, write_picture
    from didim.report.pictures import new_axes, torques

    file = check_free(Path(options.picture), options.force)
    shown = demo()
    print(shown.text())
    try:
        axes = new_axes(2, 1)
    except InputError as problem:
        print(f"No picture: {problem}")
    else:
        for j in range(2):
            torques(shown.didim, shown.runs.usual, j, axes[j, 0], between=(10.0, 40.0))
        print(f"\nMeasured, estimated and residual torques: {write_picture(axes[0, 0], file)}")
    return 0 if shown.didim.status == shown.idim.status == "converged" else 1


def _paper(options: argparse.Namespace) -> int:
    from didim.paper.claims import claims
    from didim.paper.experiments import PaperExperiments
    from didim.paper.figures import draw, figure_files
    from didim.paper.tables import TABLES, table

    if options.table is not None and options.table not in TABLES:
        raise InputError(f"The paper has Tables 1 to 9, not {options.table}.")
    if options.seed < 0:
        raise InputError(f"--seed must not be negative, found {options.seed}.")
    folder = options.figures or (None if options.table else "didim-paper")
    files = {} if folder is None else figure_files(Path(folder), options.force)
    runs = PaperExperiments(options.seed)
    for number in TABLES if options.table is None else (options.table,):
        print(table(runs, number), end="\n\n", flush=True)
    if options.table is None:
        print("What the paper claims, and what holds on this virtual robot:")
        for claim in claims(runs):
            print(claim, flush=True)
    for number, file in files.items():
        print(f"Figure {number}: {draw(runs, number, file)}", flush=True)
    return 0


def _announce_compiling() -> None:
    """Show the log of the first compile, which takes seconds, to a person at a terminal."""
    logger = logging.getLogger("didim")
    if not logger.handlers and sys.stderr.isatty():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("didim: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
