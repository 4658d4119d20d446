"""Progress bars on standard error: at a terminal; silent otherwise."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[float], None]


@contextmanager
def progress(title: str) -> Iterator[Report | None]:
    """A bar for something that takes seconds; what it gives is called with the fraction done, and
    is None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=None)  # pulses until a fraction is reported

        def report(fraction: float) -> None:
            bars.update(task, total=1.0, completed=fraction, description=title)

        with _compiling_shown(
            lambda kernel: bars.update(task, description=f"{title} (compiling {kernel}, once)")
        ):
            yield report


@contextmanager
def _compiling_shown(show: Callable[[str], Any]) -> Iterator[None]:
    """Show what is compiled in the bar instead of on lines of its own."""
    logger = logging.getLogger("didim")

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            show(
                str(record.args[0]).rpartition(".")[2]
                if isinstance(record.args, tuple) and record.args
                else "kernels"
            )

    before, logger.handlers = logger.handlers, [Shown()]
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.handlers = before
        logger.setLevel(level)
