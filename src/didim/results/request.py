"""`Request`: what `identify` hands to a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from didim.dynamics.model import BaseModel
from didim.signals.experiment import Experiment

Progress = Callable[[float], Any]


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be identified."""

    model: BaseModel
    experiments: tuple[Experiment, ...]
    held_out: tuple[Experiment, ...] = ()
    """Records that the fit does not see."""
    progress: Progress | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Provenance that the caller adds: the study, its files, the command."""
    notes: tuple[str, ...] = ()
    """Notes that the caller adds."""
    is_first_stage: bool = False
    """Whether another stage follows, which makes the tests."""

    def first_stage(self) -> Request:
        """The same for a first stage."""
        return replace(self, held_out=(), notes=(), is_first_stage=True)

    def tell(self, fraction: float) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(fraction)

    def between(self, start: float, end: float) -> Request:
        """The same for one of several stages, whose progress goes from `start` to `end`."""
        progress = self.progress
        if progress is None:
            return self
        return replace(self, progress=lambda done: progress(start + (end - start) * done))
