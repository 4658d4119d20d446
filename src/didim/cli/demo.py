"""`didim demo`: IDIM and DIDIM on a virtual SCARA."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from didim.cli.shared.options import add_file, add_force
from didim.cli.shared.progress import progress
from didim.errors import InputError
from didim.output import Seen

DESCRIPTION = "Prints the table, draws the torques and writes the HTML report of DIDIM."
EXAMPLES = """
didim demo
didim demo --picture torques.png
didim demo --report demo.html
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """The files to write."""
    for kind, ending in (("picture", "png"), ("report", "html")):
        add_file(
            command,
            f"--{kind}",
            default=f"didim-demo.{ending}",
            help="to write (default %(default)s)",
        )
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print the table, draw the torques, write the report."""
    from didim.demo import demo
    from didim.report.data import report_data
    from didim.report.files import check_free, write_made, write_picture
    from didim.report.page import page
    from didim.report.pictures import new_axes, torques

    file = check_free(Path(options.picture), ".png", options.force)
    report = check_free(Path(options.report), ".html", options.force)
    seen = Seen.now([file, report])
    with progress("identifying a virtual SCARA"):
        shown = demo(lambda text: print(text, flush=True))
        estimate = replace(
            shown.didim, provenance={**shown.didim.provenance, "command": options.command}
        )
        text = page(report_data(estimate))
    print(shown.text())
    print(f"\nReport, to open in a browser: {write_made(report, text, seen)}")
    try:
        axes = new_axes(2, 1)
    except InputError as problem:
        print(f"No picture: {problem}")
    else:
        for j in range(2):
            torques(shown.didim, shown.runs.usual, j, axes[j, 0], between=(10.0, 40.0))
        print(f"Measured, estimated and residual torques: {write_picture(axes[0, 0], file, seen)}")
    return 0 if shown.didim.status == shown.idim.status == "converged" else 1
