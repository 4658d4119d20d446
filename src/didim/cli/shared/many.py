"""What `didim fleet` and `didim league` share: how their identifications are run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import didim
from didim.cli.shared.options import add_file
from didim.cli.shared.progress import progress
from didim.errors import InputError

if TYPE_CHECKING:
    from didim.fleet import RunTable


def add_engine(command: argparse.ArgumentParser, written: str) -> None:
    """--out FOLDER, --jobs, --engine and --scheduler."""
    add_file(
        command,
        "--out",
        metavar="FOLDER",
        help=f"write {written} there; run again with the same folder, it goes on with what is "
        "missing",
    )
    command.add_argument(
        "--jobs", metavar="N", type=int, help="identifications at once (default: one per core)"
    )
    command.add_argument(
        "--engine",
        choices=("local", "dask"),
        default="local",
        help="processes of this machine, or a Dask cluster (default %(default)s)",
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="of a running Dask cluster, such as tcp://10.0.0.1:8786; with --engine dask",
    )


def run_tasks(
    tasks: Sequence[Any], options: argparse.Namespace, title: str, reports: bool = False
) -> RunTable:
    """The rows of the tasks, by the engine of the options; written into the folder of --out."""
    engine = options.engine
    if options.scheduler is not None:
        if engine != "dask":
            raise InputError("--scheduler is the address of a Dask cluster; add --engine dask.")
        engine = options.scheduler
    with progress(title) as report:
        return didim.run_many(
            tasks,
            engine,
            folder=options.out,
            jobs=options.jobs,
            reports=reports and options.out is not None,
            progress=report,
        )


def folder_of(options: argparse.Namespace) -> Path | None:
    """The folder of --out."""
    return None if options.out is None else Path(options.out)
