"""`Improvement`: the path from a model to a better one, step by step, and why it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from didim.dynamics.model import DynamicModel
from didim.identification.identify import Method
from didim.improvement.held_out import Errors
from didim.results.estimate import Estimate
from didim.results.formatting import listed, number
from didim.results.lack_of_fit import LackRow


class Outcome(Enum):
    """What became of a suspect that was named."""

    KEPT = "kept"
    NOT_BETTER = "refused: what the fit did not see is not predicted noticeably better"
    UNIDENTIFIABLE = "refused: the record does not identify it"
    INSIGNIFICANT = "refused: fitted with everything else, it may as well be zero"
    FAILED = "refused: no fit was possible"
    NOT_APPLICABLE = "not tried"
    FOR_A_PERSON = "named, to be checked by a person"


class Ending(Enum):
    """Why the path ends."""

    QUIET = "The tests are quiet: nothing that they know is missing."
    UNSUPPORTED = "Nothing more is supported by what the fit did not see."
    LIMIT = "The largest number of rounds is reached."
    NOT_TESTED = "What is missing cannot be tested."
    TOO_SHORT = "The records are too short to hold a part out: give validation records."
    REQUEST = "Stopped on request."


@dataclass(frozen=True)
class Step:
    """One suspect that was named, and what became of it."""

    round: int
    """From 1."""
    suspects: tuple[LackRow, ...]
    """What was added together, the surest first."""
    outcome: Outcome
    change: str = ""
    """What was changed; empty where nothing could be."""
    before: float = np.nan
    """Held-out error without it, a fraction of what is compared; nan where it was not tried."""
    after: float = np.nan
    """With it."""
    ratio: float = np.nan
    """After over before, the geometric mean over the joints."""
    why: str = ""
    """More about the outcome."""

    @property
    def kept(self) -> bool:
        """Whether it stays in the model."""
        return self.outcome is Outcome.KEPT

    @property
    def names(self) -> tuple[str, ...]:
        """Of the suspects."""
        return tuple(row.name for row in self.suspects)

    @property
    def label(self) -> str:
        """The suspects by name."""
        return listed(self.names)

    @property
    def shown_errors(self) -> str:
        """Held-out error before and after, in percent; empty where it was not tried."""
        if np.isnan(self.after):
            return ""
        return f"{_percent(self.before)} to {_percent(self.after)} %"

    def __str__(self) -> str:
        first = self.suspects[0]
        found = (
            f"{self.round}. {self.label}: {first.shown_value}, p = {first.p_value:.2g}, "
            f"{100 * first.share:.3g} % of the squared residual"
        )
        lines = [found]
        if self.change:
            lines.append(f"   {self.change}")
        errors = f"; held-out error {self.shown_errors}" if self.shown_errors else ""
        why = f" ({self.why})" if self.why else ""
        lines.append(f"   {self.outcome.value}{why}{errors}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Improvement:
    """The best model that the records support, and how it was found."""

    estimate: Estimate
    """Of the last structure that was kept."""
    model: DynamicModel
    method: Method
    """With its loop: `identify(model, experiments, method)` gives the estimate again."""
    steps: tuple[Step, ...]
    ending: Ending
    held_out: str
    """What the fits did not see, in words."""
    first: Estimate
    """Before anything was added."""
    overall: Errors | None = None
    """Of the first structure and the last one on the same rows; None where nothing was held out.
    Steps compare two structures each, on the rows that both can predict.
    """

    @property
    def kept(self) -> tuple[Step, ...]:
        """The steps that stay."""
        return tuple(step for step in self.steps if step.kept)

    @property
    def improved(self) -> bool:
        """Whether anything was added."""
        return bool(self.kept)

    @property
    def compared(self) -> str:
        """What held-out errors are of: "torque", or "position" where none was recorded."""
        has_torque = all(each.tau is not None for each in self.first.experiments)
        return "torque" if has_torque else "position"

    @property
    def errors(self) -> tuple[float, ...]:
        """Held-out error along the path, from before the first kept step to after the last one;
        empty where nothing was tried.
        """
        tried = [step for step in self.steps if not np.isnan(step.before)]
        return (tried[0].before, *(step.after for step in self.kept)) if tried else ()

    def __repr__(self) -> str:
        return f"Improvement({len(self.kept)} of {len(self.steps)} steps kept, {self.estimate!r})"

    def __str__(self) -> str:
        start = f"{self.first.method}: residual {_percent(self.first.residual)} %, "
        lines = [f"{start}{self.first.status}", *(str(step) for step in self.steps)]
        if self.errors:
            lines.append(f"Held-out error: {self.held_out}.")
        lines += [self.ending.value, self._result]
        return "\n".join(lines)

    @property
    def _result(self) -> str:
        if not self.improved:
            return "The model stays as it is."
        assert self.overall is not None
        before, after = self.overall.before, self.overall.after
        added = listed([step.label for step in self.kept])
        return (
            f"Added: {added}. The held-out error fell from {_percent(before)} to "
            f"{_percent(after)} % of the {self.compared}."
        )


def _percent(fraction: float) -> str:
    return number(100 * fraction)
