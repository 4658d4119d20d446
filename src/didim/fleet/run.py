"""`run_many`: identifications of many tasks on all cores or on a cluster, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from didim.errors import InputError, nearest, shortened
from didim.fleet.cluster import is_client, on_cluster
from didim.fleet.local import in_processes, in_this_process
from didim.fleet.perform import Replies
from didim.fleet.row import Row, RunTable
from didim.fleet.store import opened, report_file
from didim.fleet.task import Job, Prepared, Task, prepare
from didim.threads import cores
from didim.validation import callback, flag, whole

ENGINES = ("local", "dask")


def run_many(
    tasks: Iterable[Task],
    engine: Any = "local",
    *,
    folder: str | PathLike[str] | None = None,
    jobs: int | None = None,
    reports: bool = False,
    progress: Callable[[float], Any] | None = None,
) -> RunTable:
    """Identify every task; one row for each, in their order, those that fail included. The values
    do not depend on the engine or on the number of its workers.

    Parameters
    ----------
    tasks
        (source, settings, seed) each. The source is a study, the path of one, or (model,
        experiments, method), with held-out records as a fourth part; experiments may be a function
        of the seed, which makes them in the worker. Settings change keys of the study
        ({"didim.refine": True}, or texts as of `--set`) or fields of the method
        ({"decimation": 4}).
    engine
        "local": processes of this machine; "dask": a Dask cluster of this machine; a
        `dask.distributed.Client`; or the address of a scheduler, "tcp://...".
    folder
        Where rows are written as they come (Parquet). A second call with the same folder runs only
        what is missing.
    jobs
        Tasks at once; None: as many as there are cores. With engine "local", 1 runs them in this
        process.
    reports
        Whether each task writes its HTML report into the folder, `reports/KEY.html`.
    progress
        Called with the fraction done, 0 to 1.
    """
    callback(progress)
    prepared = prepare(tasks)
    workers = cores() if jobs is None else whole(jobs, "jobs", least=1)
    flag(reports, "reports")
    if reports and folder is None:
        raise InputError("reports=True needs a folder to write them to.")
    store = None if folder is None else opened(folder)
    pages = None if store is None or not reports else store.folder
    known = {} if store is None else store.read()
    found = {key: row for key, row in known.items() if row.failure.is_lasting}
    missing = _missing(prepared, found, pages)
    total, done = max(len(missing), 1), 0
    with closing(_replies(engine, prepared, missing, pages is not None, workers)) as replies:
        for row, page in replies:  # closed at once where writing fails or a person interrupts
            if store is not None:
                store.add(row)
                if page:
                    store.add_page(row, page)
            found[row.key] = row
            done += 1
            if progress is not None:
                progress(done / total)
    table = RunTable(tuple(_named(found[job.key], job) for job in prepared.jobs))
    if store is not None and (missing or not store.is_finished):
        store.finish(table)
    return table


def _named(row: Row, job: Job) -> Row:
    """The row under the name that this call gives it: the same data may have another file."""
    return row if (row.name, row.settings) == (job.name, job.settings) else replace(row, **job.row)


def _missing(prepared: Prepared, found: dict[str, Row], pages: Path | None) -> list[Job]:
    """The jobs that are to be run, each once."""

    def is_done(job: Job) -> bool:
        if job.key not in found:
            return False
        has_page = pages is None or report_file(pages, job.key).exists()
        return has_page or not found[job.key].names

    return [*{job.key: job for job in prepared.jobs if not is_done(job)}.values()]


def _replies(
    engine: Any, prepared: Prepared, missing: list[Job], report: bool, workers: int
) -> Replies:
    is_address = isinstance(engine, str) and "://" in engine
    if not (is_client(engine) or is_address or (isinstance(engine, str) and engine in ENGINES)):
        raise InputError(
            f"unknown engine {shortened(engine)}; {nearest(str(engine)[:40], ENGINES)} Or give a "
            "dask.distributed.Client, or the address of a scheduler."
        )
    if engine != "local" and missing:
        return on_cluster(prepared, missing, report, workers, engine)
    if workers == 1 or not missing:
        return in_this_process(prepared, missing, report)
    return in_processes(prepared, missing, report, workers)
