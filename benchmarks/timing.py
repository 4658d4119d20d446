"""How times are taken: threads pinned to one, the best of several runs, peers alternating with didim."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table: what was run, how long didim and its peer took, and how far their results differ."""

    task: str
    didim_ms: float
    peer: str
    peer_ms: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times faster didim is."""
        return self.peer_ms / self.didim_ms


def best(functions: dict[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Shortest wall time in ms of each function; they take turns, so that a busy machine hurts all alike."""
    times = {name: float("inf") for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name] = min(times[name], 1e3 * (time.perf_counter() - start))
    return times


def machine() -> dict[str, str]:
    """Processor and versions, without which a time means nothing."""
    versions = {}
    for package in ("didim", "numpy", "numba", "pin"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"processor": _processor(), "python": platform.python_version(), **versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{named[0]} ({len(named)} cores)" if named else platform.machine()


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| task | didim, ms | peer | peer, ms | times faster | relative difference or error of didim |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.task} | {row.didim_ms:.2f} | {row.peer} | {row.peer_ms:.2f} | {row.ratio:.1f} | {row.difference:.1e} |"
        for row in rows
    ]
    return "\n".join(lines)
