"""The command `didim`. An error is one line on standard error; status 0: done, 1: not converged,
failed or stopped, 2: bad input.

It imports little before `main` runs: an interrupt during an import must be one line too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

MANY_OBJECTS = 20_000
"""New objects after which Python looks for cycles among them."""

LESS_MEMORY = "use a part of the record (between), or decimate more"
"""What to do where memory is not enough; a command may have a `LESS_MEMORY` of its own."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        if argv is None:  # a process of its own
            _end_when_terminated()
            _collect_less_garbage()
        return _run(argv)
    except KeyboardInterrupt:  # before the command is known
        print("didim: error: stopped on request", file=sys.stderr)
        return 1


def _run(argv: Sequence[str] | None) -> int:
    import shlex
    import warnings

    from didim.cli.parser import make_parser
    from didim.cli.shared.streams import discard, open_closed_streams
    from didim.errors import InfeasibleError, InputError, internal_error

    open_closed_streams()
    words = sys.argv[1:] if argv is None else list(argv)
    options = make_parser(words).parse_args(words)
    options.command = shlex.join(["didim", *words])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    _announce_compiling()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.filterwarnings(
                "ignore", r".* encountered in ", RuntimeWarning
            )  # of NumPy, on numbers out of range
            warnings.showwarning = _one_line
            status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has seen enough
        discard(sys.stdout)
        return 0
    except KeyboardInterrupt:
        return _refused(options, "stopped on request", 1)
    except InfeasibleError as problem:
        return _refused(options, str(problem), 1)
    except (InputError, OSError) as problem:
        return _refused(options, str(problem), 2)
    except MemoryError:
        advice = getattr(sys.modules.get(options.run.__module__), "LESS_MEMORY", LESS_MEMORY)
        return _refused(options, f"there is not enough memory; {advice}", 2)
    except Exception as problem:  # a bug in didim: one line for the user, the rest with --debug
        return _refused(options, internal_error(problem), 2)


def _refused(options: Any, message: str, status: int) -> int:
    """Say what is wrong on one line."""
    import traceback

    from didim.cli.shared.streams import discard
    from didim.errors import readable

    if options.debug:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:  # a full disk
        discard(sys.stdout)
    print(f"didim: error: {readable(' '.join(message.split()))}", file=sys.stderr)
    return status


def _one_line(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """A warning on one line."""
    from didim.errors import readable

    del category
    print(f"didim: warning: {readable(' '.join(str(message).split()))}", file=sys.stderr)


def _end_when_terminated() -> None:
    """Let SIGTERM end this process as Ctrl-C does: what is open is cleaned up. Processes that it
    forks end at once, as ever.
    """
    import os
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def end(number: int, frame: FrameType | None) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # a job in the background ignores Ctrl-C
            raise KeyboardInterrupt
        interrupt(number, frame)

    def end_at_once() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, end)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=end_at_once)


def _collect_less_garbage() -> None:
    """Look for cycles seldom, since imports make many objects and few cycles, and not at the end of
    the process: a quarter of a second less.
    """
    import atexit
    import gc

    gc.set_threshold(MANY_OBJECTS, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _announce_compiling() -> None:
    """Show the log of the first compile, which takes seconds, to a person at a terminal."""
    import logging

    logger = logging.getLogger("didim")
    if not logger.handlers and sys.stderr.isatty():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("didim: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
