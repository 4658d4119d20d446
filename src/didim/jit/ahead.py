"""Kernels that a second process compiles into the cache while this one compiles others.

Who knows what will be needed says so before it is: `compile_ahead` starts the process, and an entry
that it has not finished is waited for when it is called. Nothing is started where the cache has all
of them or cannot be written, on one core, or with DIDIM_COMPILE_AHEAD=0.
"""

from __future__ import annotations

import atexit
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from didim.jit.cache import cache_folder, log
from didim.jit.compiled import Entry, waiting
from didim.threads import cores

SWITCH = "DIDIM_COMPILE_AHEAD"
"""Environment variable: 0 leaves all compiling to this process."""
_POLL_SECONDS = 0.02
_PACKAGE_PARENT = str(Path(__file__).parents[2])
_COMMAND = "import sys; from didim.jit.ahead import compile_named; compile_named(sys.argv[1:])"

Entries = Sequence[Entry[..., Any]]


def compile_ahead(there: Entries, here: Entries = ()) -> None:
    """Let another process compile the entries `there`, in this order. While this one waits for one
    of them, it compiles what of `here` is not compiled yet.
    """
    missing = [each for each in there if not each.cached]
    if missing and cache_folder() is not None and cores() > 1 and os.environ.get(SWITCH) != "0":
        waiting.append(_Helper(missing, here).wait)


def compile_named(names: Sequence[str]) -> None:
    """Compile the entries of these full names, in this order."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        getattr(importlib.import_module(module), attribute).compile()


class _Helper:
    """The other process, and what it compiles."""

    def __init__(self, there: Entries, here: Entries) -> None:
        self._names, self._here = [each.name for each in there], list(here)
        log.info("compiling %s in a second process", ", ".join(self._names))
        path = os.pathsep.join(filter(None, (_PACKAGE_PARENT, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *self._names],
            env={**os.environ, "PYTHONPATH": path, SWITCH: "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(self._process.terminate)

    def wait(self, entry: Entry[..., Any]) -> None:
        """Return once the process has compiled the entry, or has ended."""
        while entry.name in self._names and self._process.poll() is None and not entry.cached:
            if self._here:
                self._here.pop(0).compile()
            else:
                time.sleep(_POLL_SECONDS)
