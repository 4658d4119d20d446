"""Engine "local": worker processes of this machine. A worker that dies is replaced and its job
tried again; the others go on.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from didim.fleet.perform import PartCache, Replies, Reply, perform
from didim.fleet.row import LostWorkerError, failed_row
from didim.fleet.task import Job, Prepared
from didim.fleet.worker import receive, send
from didim.locks import is_left_behind, locked
from didim.output import UnwritableError

ATTEMPTS = 3
"""At a job whose worker dies."""

_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}

_START = "import sys; sys.path[:] = {path!r}; from didim.fleet.worker import main; main({spool!r})"

_SPOOL, _OWNER = "didim-parts-", "owner"
"""Beginning of the name of a folder of pickled parts, and the file in it that its owner locks."""


def in_this_process(prepared: Prepared, jobs: list[Job], report: bool) -> Replies:
    """One job after the other, without other processes."""
    cache = PartCache()
    for job in jobs:
        yield perform(job, cache, prepared.blobs.__getitem__, report)


def in_processes(prepared: Prepared, jobs: list[Job], report: bool, workers: int) -> Replies:
    """Replies as they come."""
    _remove_left_behind()
    with (
        tempfile.TemporaryDirectory(prefix=_SPOOL, ignore_cleanup_errors=True) as spool,
        locked(Path(spool) / _OWNER),
    ):
        _spool_parts(Path(spool), prepared)
        pool = _Pool(spool, jobs, report)
        try:
            pool.start(min(workers, len(jobs)))
            for _ in jobs:
                yield pool.next_reply()
        finally:
            pool.end()


def _spool_parts(spool: Path, prepared: Prepared) -> None:
    try:
        for part, blob in prepared.blobs.items():
            (spool / part).write_bytes(blob)
    except OSError as problem:
        raise UnwritableError(
            f"{spool}: the parts of the tasks cannot be written for the workers: "
            f"{problem.strerror}; make room there, set TMPDIR to another folder, or use jobs=1."
        ) from None


def _remove_left_behind() -> None:
    """Remove the parts of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SPOOL}*"):
        if is_left_behind(folder / _OWNER):
            shutil.rmtree(folder, ignore_errors=True)


class _Pool:
    """Worker processes, each served by a thread of this one."""

    def __init__(self, spool: str, jobs: list[Job], report: bool) -> None:
        path = [each for each in sys.path if isinstance(each, str)]
        self._command = [sys.executable, "-c", _START.format(path=path, spool=spool)]
        self._waiting = deque(jobs)
        self._report = report
        self._replies: queue.Queue[Reply | Exception] = queue.Queue()
        self._ended = False
        self._running: set[subprocess.Popen[bytes]] = set()
        self._threads: list[threading.Thread] = []

    def start(self, workers: int) -> None:
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(workers)]
        for each in self._threads:
            each.start()

    def next_reply(self) -> Reply:
        while True:
            with suppress(queue.Empty):
                found = self._replies.get(timeout=0.5)  # so that Ctrl-C is heard on Windows
                if isinstance(found, Exception):
                    raise found
                return found

    def end(self) -> None:
        """Stop at once; what was not answered is not run."""
        self._ended = True
        self._waiting.clear()
        for each in [*self._running]:
            each.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Hand jobs to one worker after the other, replacing it where it dies."""
        worker: subprocess.Popen[bytes] | None = None
        try:
            while not self._ended:
                job = self._waiting.popleft()
                reply, worker = self._answer(job, worker)
                self._replies.put(reply)
        except IndexError:  # no job is left
            pass
        except Exception as problem:
            self._replies.put(problem)
        finally:
            if worker is not None:
                self._close(worker)

    def _answer(
        self, job: Job, worker: subprocess.Popen[bytes] | None
    ) -> tuple[Reply, subprocess.Popen[bytes] | None]:
        status: int | None = None
        for _ in range(ATTEMPTS):
            worker = worker or self._new_worker()
            try:
                send(_pipe(worker.stdin), (job, self._report))
                return receive(_pipe(worker.stdout)), worker
            except (EOFError, OSError):
                status = self._close(worker)
                worker = None
                if self._ended:
                    break
        lost = LostWorkerError(
            f"its process ended {ATTEMPTS} times (exit status {status}); it may need more memory "
            "than there is: try fewer jobs at once, or decimate more."
        )
        return (failed_row(job.row, lost), b""), worker

    def _new_worker(self) -> subprocess.Popen[bytes]:
        settings: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        worker = subprocess.Popen(  # a session of its own: Ctrl-C is for this process alone
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
            **settings,
        )
        if settings:
            threading.Thread(target=_end_children, args=(worker,), daemon=True).start()
        self._running.add(worker)
        if self._ended:
            worker.kill()
        return worker

    def _close(self, worker: subprocess.Popen[bytes]) -> int:
        with suppress(OSError):
            _pipe(worker.stdin).close()
        status = worker.wait()
        _pipe(worker.stdout).close()
        self._running.discard(worker)
        return status


def _end_children(worker: subprocess.Popen[bytes]) -> None:
    """When a worker has ended, end what its tasks have started: it may hold the pipe of the replies
    open.
    """
    worker.wait()
    with suppress(OSError):
        os.killpg(worker.pid, signal.SIGKILL)


def _pipe(stream: Any) -> Any:
    assert stream is not None
    return stream
