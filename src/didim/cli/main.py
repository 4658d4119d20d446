"""The command `didim`. An error is one line on standard error; status 0: done, 1: not converged or
failed, 2: bad input.
"""

from __future__ import annotations

import atexit
import gc
import logging
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from didim.cli.parser import make_parser
from didim.cli.shared.streams import discard, open_closed_streams
from didim.errors import InfeasibleError, InputError, internal_error, readable

MANY_OBJECTS = 20_000
"""New objects after which Python looks for cycles among them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    if argv is None:  # a process of its own
        _collect_less_garbage()
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
        return _refused(
            options,
            "there is not enough memory; use a part of the record (between), or decimate more",
            2,
        )
    except Exception as problem:  # a bug in didim: one line for the user, the rest with --debug
        return _refused(options, internal_error(problem), 2)


def _refused(options: Any, message: str, status: int) -> int:
    """Say what is wrong on one line."""
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
    del category
    print(f"didim: warning: {readable(' '.join(str(message).split()))}", file=sys.stderr)


def _collect_less_garbage() -> None:
    """Look for cycles seldom, since imports make many objects and few cycles, and not at the end of
    the process: a quarter of a second less.
    """
    gc.set_threshold(MANY_OBJECTS, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _announce_compiling() -> None:
    """Show the log of the first compile, which takes seconds, to a person at a terminal."""
    logger = logging.getLogger("didim")
    if not logger.handlers and sys.stderr.isatty():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("didim: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
