"""What `didim fleet` and `didim league` share: how their identifications are run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from didim.cli.progress import progress
from didim.errors import InputError
from didim.fleet import RunTable, run_many


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
        return run_many(
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
