"""One job in a worker process: parts are unpickled once, a job has one thread, and kernels are
compiled once for each machine.
"""

from __future__ import annotations

import pickle
import tempfile
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import Any

from didim.errors import InputError
from didim.fleet.carried import Carried
from didim.fleet.row import Row, failed_row, identified_row
from didim.fleet.task import Job, made
from didim.identification.identify import identify
from didim.jit.cache import cache_folder
from didim.jit.compiled import is_stored, warm
from didim.locks import locked
from didim.report.page import write_report
from didim.results.estimate import Estimate
from didim.study.study import Study
from didim.threads import one_blas_thread, single_thread

KEPT_PARTS = 32
"""Parts that a worker keeps unpickled."""

WARM = "all-kernels"
"""File of the cache that says that every kernel is compiled."""

Fetch = Callable[[str], bytes]
"""From the hash of a part to its pickle."""

Reply = tuple[Row, bytes]
"""The row, and the page of its report; empty where it was not asked for or there is none."""

Replies = Generator[Reply, None, None]
"""Of the jobs that an engine was given, as they come."""


class PartCache:
    """Unpickled parts of a process, the latest ones. A study is unpickled for each task, so that
    its records do not pile up, and a function, so that none sees what another task has changed.
    """

    def __init__(self) -> None:
        self._parts: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def part(self, part: str, fetch: Fetch) -> Any:
        """The part of this hash."""
        with self._lock:
            if part in self._parts:
                self._parts.move_to_end(part)
                return self._parts[part]
        try:
            found = pickle.loads(fetch(part))
        except (AttributeError, ImportError) as problem:
            raise InputError(
                f"a worker cannot import what the task is made of ({problem}); define its "
                "functions in a module that every worker has."
            ) from None
        if not isinstance(found, Study | Carried):
            with self._lock:
                self._parts[part] = found
                while len(self._parts) > KEPT_PARTS:
                    self._parts.popitem(last=False)
        return found


def perform(job: Job, cache: PartCache, fetch: Fetch, report: bool = False) -> Reply:
    """Run a job. What goes wrong in it is a row."""
    start = time.perf_counter()
    try:
        if job.problem is not None:
            raise job.problem
        with single_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the estimate has what matters, as notes
            parts = [cache.part(each, fetch) for each in job.parts]
            identification = _ready(parts, job.seed)
            start = time.perf_counter()
            estimate = identification()
            row = identified_row(job.row, estimate, time.perf_counter() - start)
            return row, _page(estimate) if report else b""
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except SystemExit as end:  # of a function of the user's: it ends this task alone
        problem = InputError(f"the task ended with sys.exit({end.code!r})")
        return failed_row(job.row, problem, time.perf_counter() - start), b""
    except BaseException as problem:
        return failed_row(job.row, problem, time.perf_counter() - start), b""


def _ready(parts: list[Any], seed: int) -> Callable[[], Estimate]:
    """The identification, with its records read or made: they are not part of its time."""
    if isinstance(parts[0], Study):
        study: Study = parts[0]
        _ = study.records
        return study.run
    model, experiments, method, held_out = parts
    return partial(identify, model, made(experiments, seed), method, made(held_out, seed))


def _page(estimate: Estimate) -> bytes:
    """The report; empty where it cannot be made, which must not cost the row."""
    with suppress(Exception), tempfile.TemporaryDirectory() as folder:
        return write_report(estimate, Path(folder) / "report.html").read_bytes()
    return b""


@once
def settle_in() -> None:
    """Once in each worker process: one thread for linear algebra to the end of the process, and all
    kernels compiled, by one process of the machine while the others wait. Where they cannot be, the
    rows say why.
    """
    one_blas_thread().__enter__()
    folder = cache_folder()
    if folder is None or (folder / WARM).exists():
        return
    with suppress(Exception), locked(folder / f"{WARM}.lock"):
        if not (folder / WARM).exists():
            warm()
            if is_stored():
                (folder / WARM).touch()
