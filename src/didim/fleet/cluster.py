"""Engine "dask": the workers of a `dask.distributed` cluster. The scheduler runs jobs of a worker
that dies elsewhere.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any
from uuid import uuid4

from didim.errors import InputError
from didim.fleet.perform import PartCache, Replies, Reply, perform, settle_in
from didim.fleet.row import LostWorkerError, failed_row
from didim.fleet.task import Job, Prepared

ATTEMPTS = 3
"""At a job that the scheduler has lost."""

POLL_SECONDS = 0.02
"""Between looks whether a job has ended, or the scheduler."""

CONNECTED = "running"
"""Status of a client with its scheduler."""


def is_client(engine: Any) -> bool:
    """Whether something is a `dask.distributed.Client`."""
    return type(engine).__module__.split(".")[0] == "distributed" and hasattr(engine, "submit")


def on_cluster(
    prepared: Prepared, jobs: list[Job], report: bool, workers: int, engine: Any
) -> Replies:
    """Replies as they come; `engine` is a client, the address of a scheduler, or "dask" for
    `workers` processes of this machine.
    """
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError:
        raise InputError(
            'engine "dask" needs dask.distributed: pip install "didim[cluster]".'
        ) from None
    with ExitStack() as opened:
        client = engine
        if engine == "dask":
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                processes=True,
                silence_logs=logging.ERROR,  # warnings of tasks that an interrupt cancels
            )
            client = opened.enter_context(distributed.Client(opened.enter_context(cluster)))
        elif isinstance(engine, str):
            client = opened.enter_context(_connected(distributed.Client, engine))
        opened.enter_context(
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        )
        yield from _replies(distributed.as_completed, client, prepared, jobs, report)


def _connected(client: Any, address: str) -> Any:
    try:
        return client(address, timeout="10s")
    except (OSError, ValueError) as problem:
        reason = str(problem).splitlines()[0]
        raise InputError(
            f"there is no Dask scheduler at {address}: {reason}; start one with dask scheduler."
        ) from None


def _replies(
    as_completed: Any, client: Any, prepared: Prepared, jobs: list[Job], report: bool
) -> Replies:
    _refuse_lost(client)
    run = uuid4().hex
    needed = {part for job in jobs for part in job.parts}
    parts = {  # results that the scheduler can make again where a worker that has them dies
        part: client.submit(_held, prepared.blobs[part], key=f"didim-part-{part}-{run}")
        for part in needed
    }

    def submitted(job: Job, attempt: int) -> Any:
        blobs = [parts[part] for part in job.parts]
        key = f"didim-{job.key}-{run}-{attempt}-{uuid4().hex[:8]}"
        return client.submit(_perform, job, report, blobs, key=key, pure=False)

    waiting = {(future := submitted(job, 1)).key: (job, 1, future) for job in jobs}
    arriving = as_completed([future for _, _, future in waiting.values()])
    try:
        while waiting:
            future = _next(arriving, client)
            job, attempt, _ = waiting.pop(future.key)
            if future.status == "finished":
                yield future.result()
            elif attempt < ATTEMPTS and future.status != "error":
                again = submitted(job, attempt + 1)
                waiting[again.key] = job, attempt + 1, again
                arriving.add(again)
            else:
                yield failed_row(job.row, _lost(future)), b""
    finally:
        if client.status == CONNECTED:
            client.cancel([future for _, _, future in waiting.values()])
            client.cancel(list(parts.values()))


def _refuse_lost(client: Any) -> None:
    """Refuse a client that is closed, or was cut off."""
    if client.status != CONNECTED:
        raise InputError(
            "the connection to the Dask scheduler is lost or closed. What is finished is in the "
            "folder, if one was given: run the same again with a new client, and it goes on with "
            "what is missing."
        )


def _next(arriving: Any, client: Any) -> Any:
    """The next future that has ended. Where the connection to the scheduler is lost, so are all
    futures, and none of them ends.
    """
    while True:
        _refuse_lost(client)
        if arriving.has_ready():
            return next(arriving)
        time.sleep(POLL_SECONDS)


def _lost(future: Any) -> Exception:
    """What the scheduler says about a job without a reply."""
    problem = future.exception() if future.status == "error" else None
    what = type(problem).__name__ if problem is not None else future.status
    return LostWorkerError(
        f"its worker was lost ({what}); it may need more memory than the worker has."
    )


_cache = PartCache()
"""Of this worker process."""


def _held(blob: bytes) -> bytes:
    return blob


def _perform(job: Job, report: bool, blobs: Sequence[bytes]) -> Reply:
    """In a worker of the cluster."""
    settle_in()
    found = dict(zip(job.parts, blobs, strict=True))
    return perform(job, _cache, found.__getitem__, report)
