"""`Task`: what is asked of the exact method, by `OutputError` or by a DIDIM that is refined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from didim.control.law import Controller
from didim.results.prediction import Recipe


@dataclass(frozen=True, eq=False)
class Task:
    """The settings of a run, whoever asks for it."""

    method: str
    """Its name in the estimate."""
    controller: Controller | None
    """The loop as assumed; None: open loop."""
    estimate_gains: bool
    estimate_delay: bool
    scan: bool
    """Whether unknown gains are first looked for by a scan of the bandwidth."""
    max_iterations: int
    recipe: Recipe
    """How other records are treated like those of the fit."""
    provenance: dict[str, Any]
