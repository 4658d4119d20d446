"""Error, coverage, failures and time of each entry of a league."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from didim.fleet.league import Entry, League
from didim.fleet.row import FAILED, Row


@dataclass(frozen=True)
class Score:
    """What became of one entry over all seeds. Numbers are medians, nan where nothing
    converged.
    """

    entry: Entry
    runs: int
    failed: int
    """Without an estimate."""
    unconverged: int
    """With an estimate that did not converge."""
    error: float
    """||chi - truth|| / ||truth|| of the base parameters."""
    torque: float
    """Residual of a held-out motion without noise."""
    coverage: float
    """Fraction of the 95 % intervals that hold the true value, over parameters and seeds."""
    seconds: float


def scores(league: League, rows: Sequence[Row]) -> list[Score]:
    """One score for each entry."""
    found = []
    for entry in dict.fromkeys(league.entries):
        own = [row for each, row in zip(league.entries, rows, strict=True) if each == entry]
        good = [row for row in own if row.converged]
        truth = league.truth[entry.robot]
        true = [np.array([truth[name] for name in row.names]) for row in good]
        errors = [
            float(np.linalg.norm(row.values - x) / np.linalg.norm(x))
            for row, x in zip(good, true, strict=True)
        ]
        inside = [
            np.abs(row.values - x) <= row.half_width for row, x in zip(good, true, strict=True)
        ]
        failed = sum(row.status == FAILED for row in own)
        found.append(
            Score(
                entry,
                len(own),
                failed,
                len(own) - len(good) - failed,
                _median(errors),
                _median([row.held_out for row in good]),
                float(np.mean(np.concatenate(inside))) if inside else np.nan,
                _median([row.seconds for row in good]),
            )
        )
    return found


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else np.nan
