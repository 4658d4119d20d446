"""The worker process of engine "local": jobs come through what was standard input, rows leave
through what was standard output; both as pickles with their length before them.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from didim.fleet.perform import PartCache, perform, settle_in

_LENGTH = struct.Struct("<Q")

PARENT_SECONDS = 1.0
"""Between looks whether the process that hands out jobs is still there."""


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    content = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; EOFError where the other side has ended."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: BinaryIO, count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content


def main(spool: str) -> None:
    """Perform jobs until the other side ends; `spool` is the folder of the pickled parts."""
    jobs, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:  # what a task starts must not wait for input
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what a task prints must not be taken for a reply
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    folder, cache = Path(spool), PartCache()

    def fetch(part: str) -> bytes:
        return (folder / part).read_bytes()

    settle_in()
    while True:
        try:
            job, report = receive(jobs)
            send(replies, perform(job, cache, fetch, report))
        except (EOFError, BrokenPipeError):
            return


def _end_with_parent(parent: int) -> None:
    """End this process where the one that would read its rows was killed."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)
