"""`didim paper`: the paper's experiments on a virtual SCARA."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from didim.cli.shared.options import add_force
from didim.cli.shared.progress import progress
from didim.errors import InputError
from didim.output import Seen

DESCRIPTION = (
    "Section VI: Tables 1-9 by the method as printed, the guarded one and the paper's figures "
    "beside it, Figures 10-15, and which claims hold here."
)
EXAMPLES = """
didim paper
didim paper --table 5
didim paper --figures pictures
didim paper --table 8 --loop 50,60 --trajectory 70
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """The table, the figures and the virtual robot."""
    command.add_argument("--table", type=int, metavar="N", help="one table only, 1 to 9")
    command.add_argument(
        "--figures",
        metavar="FOLDER",
        help="draw Figures 10-15 there (default, without --table: didim-paper)",
    )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the noise (default 0)"
    )
    command.add_argument(
        "--trajectory",
        type=int,
        default=2010,
        metavar="N",
        help="seed of the trajectory, a Fourier series (default 2010)",
    )
    command.add_argument(
        "--loop",
        default="20,50",
        metavar="W1,W2",
        help="natural frequencies of the true loop, rad/s (default 20,50)",
    )
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print the tables and claims, draw the figures."""
    from didim.paper.claims import claims
    from didim.paper.experiments import PaperExperiments
    from didim.paper.figures import draw, figure_files
    from didim.paper.tables import TABLES, table

    if options.table is not None and options.table not in TABLES:
        raise InputError(f"The paper has Tables 1 to 9, not {options.table}.")
    for name in ("seed", "trajectory"):
        if getattr(options, name) < 0:
            raise InputError(f"--{name} must not be negative, found {getattr(options, name)}.")
    folder = options.figures or (None if options.table else "didim-paper")
    files = {} if folder is None else figure_files(Path(folder), options.force)
    seen = Seen.now(files.values())
    runs = PaperExperiments(options.seed, options.trajectory, _loop(options.loop))
    for number in TABLES if options.table is None else (options.table,):
        with progress(f"table {number}"):
            text = table(runs, number)
        print(text, end="\n\n", flush=True)
    if options.table is None:
        print("What the paper claims, and what holds on this virtual robot:")
        with progress("claims"):
            judged = claims(runs)
        print(*judged, sep="\n", flush=True)
    for number, file in files.items():
        with progress(f"figure {number}"):
            drawn = draw(runs, number, file, seen)
        print(f"Figure {number}: {drawn}", flush=True)
    return 0


def _loop(text: str) -> tuple[float, float]:
    """The natural frequencies of the two joints, rad/s."""
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--loop takes the natural frequencies of the two joints, rad/s, such as 20,50; found "
            f"{text!r}."
        ) from None
    if not (0 < first < math.inf and 0 < second < math.inf):
        raise InputError(f"--loop takes positive natural frequencies, found {text!r}.")
    return first, second
