"""Many runs whose rows are written as they end: a second call makes those that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Task = tuple[str | int, ...]


def run_missing(
    tasks: Iterable[Task], keys: tuple[str, ...], run: Callable[[Any], Row], file: Path, jobs: int
) -> list[Row]:
    """All rows of a file of JSON lines, and those of the tasks that it lacks, which are added; a
    row holds its task under `keys`.
    """
    file.parent.mkdir(exist_ok=True)
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {tuple(row[key] for key in keys) for row in done}
    with ProcessPoolExecutor(jobs) as pool, file.open("a") as out:
        for row in pool.map(run, [task for task in tasks if task not in known]):
            done.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
    return done


def write_tables(page: Path, text: str) -> None:
    """The tables of a page, after its mark."""
    before, mark, _ = page.read_text().partition("<!-- tables -->")
    page.write_text(f"{before}{mark}\n\n{text}\n")
