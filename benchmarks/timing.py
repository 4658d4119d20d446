"""How times are taken: threads pinned to one, the best of several runs, peers alternating with
didim.
"""

from __future__ import annotations

import importlib.util
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGES = {
    "didim": "didim",
    "numpy": "numpy",
    "scipy": "scipy",
    "numba": "numba",
    "pin": "pinocchio",
    "mujoco": "mujoco",
    "figaroh": "figaroh",
}
"""Distribution to module, of all that is measured."""
FEWEST, ENOUGH = 5, 3.0
"""Turns of each function, and seconds of all."""

_REACHED = {True: ", reached", False: ", **missed**", None: ""}


@dataclass(frozen=True)
class Row:
    """One line of the table: what was run, how long didim and its peer took, how far they differ,
    and what is asked for.
    """

    task: str
    didim_ms: float
    peer: str
    peer_ms: float
    difference: float
    """Relative, to the peer or to a converged run."""
    target: str = ""
    """What the ratio must reach: ">= 6" or "<= 2.5" times; empty: a row beside others."""

    @property
    def ratio(self) -> float:
        """How many times faster didim is."""
        return self.peer_ms / self.didim_ms

    @property
    def reached(self) -> bool | None:
        """Whether the target is; None where there is none, or no peer."""
        if not self.target or not math.isfinite(self.peer_ms):
            return None
        sign, limit = self.target.split()
        return self.ratio >= float(limit) if sign == ">=" else 1 / self.ratio <= float(limit)


def missing(task: str, peer: str, target: str = "") -> Row:
    """The row of a peer that is not installed."""
    return Row(task, math.nan, f"{peer}: not installed", math.nan, math.nan, target)


def installed(package: str) -> bool:
    """Whether a peer can be imported."""
    return importlib.util.find_spec(PACKAGES[package]) is not None


def best(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Shortest wall time in ms of each function; they take turns, so that a busy machine hurts all
    alike.

    At least FEWEST turns, and more until ENOUGH seconds have passed: what takes a millisecond is
    disturbed more easily.
    """
    times = {name: float("inf") for name in functions}
    begin, turns = time.perf_counter(), 0
    while turns < FEWEST or time.perf_counter() - begin < ENOUGH:
        turns += 1
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name] = min(times[name], 1e3 * (time.perf_counter() - start))
    return times


def machine() -> dict[str, str]:
    """Processor and versions, without which a time means nothing."""
    versions = {}
    for package in PACKAGES:
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
        "| task | didim, ms | peer | peer, ms | times faster | asked for | difference or error |",
        "|---|---:|---|---:|---:|---|---:|",
    ]
    for row in rows:
        asked = "" if not row.target else _asked(row.target) + _REACHED[row.reached]
        cells = (
            _number(row.didim_ms, ".4g"),
            row.peer,
            _number(row.peer_ms, ".4g"),
            _number(row.ratio, ".3g"),
        )
        lines.append(
            f"| {row.task} | {' | '.join(cells)} | {asked} | {_number(row.difference, '.1e')} |"
        )
    return "\n".join(lines)


def _asked(target: str) -> str:
    sign, limit = target.split()
    return f"at least {limit} times" if sign == ">=" else f"at most {limit} times its time"


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "-"
