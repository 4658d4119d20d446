"""`LackOfFit`: what the model or its loop lacks, by score tests on the residual of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from didim.errors import InputError
from didim.results.formatting import listed, number

if TYPE_CHECKING:
    import pandas

LEVEL = 0.01
"""How often, at most, something is named where nothing is missing."""


class Remedy(Enum):
    """What adds a suspect to a model or its loop."""

    GAIN = "gain"
    INTEGRAL = "integral"
    VELOCITY_REFERENCE = "velocity reference"
    FEEDFORWARD = "feedforward"
    DELAY = "delay"
    REFERENCE_DELAY = "reference delay"
    DRIVE_GAIN = "drive gain"
    SATURATION = "saturation"
    EFFECT = "effect"
    COUPLING = "coupling"
    PAYLOAD = "payload"
    GRAVITY = "gravity"
    JOINT_ZERO = "joint zero"
    TIME_SHIFT = "time shift"


@dataclass(frozen=True)
class LackRow:
    """One suspect."""

    name: str
    """Such as "kp1", "dFs2" or "delay"."""
    group: str
    """What it was tested together with first, such as "gains"."""
    joint: int | None
    """From 0; None: it is no joint's own."""
    value: float
    """What it would be, if it alone were added."""
    sigma: float
    """Standard deviation of that, for the colour of the residuals."""
    unit: str
    p_value: float
    """How often it would look as sure where nothing is missing, corrected for the number of
    suspects.
    """
    share: float
    """Fraction of the weighted squared residual, after decimation, that freeing it would remove."""
    remedy: Remedy
    setting: str
    """What adds it, for a person."""
    found: bool = False
    """Whether it is named: the surest, or the surest of what the others named leave."""
    alternatives: tuple[str, ...] = ()
    """Suspects that the record cannot distinguish from it."""
    effect: str = ""
    """The effect of the catalogue that adds it, where one does."""
    shapes: Mapping[str, float] = field(default_factory=dict)
    """Values of its shapes that were assumed, by symbol."""

    @property
    def label(self) -> str:
        """It and what it cannot be told from: "kp1 or ff1"."""
        return " or ".join([self.name, *self.alternatives])

    @property
    def shown_value(self) -> str:
        """Value, sigma and unit."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{number(self.value)} ± {number(self.sigma)}{unit}"


@dataclass(frozen=True)
class LackOfFit:
    """The suspects, surest first: those that are named, then by what they would remove."""

    rows: tuple[LackRow, ...] = ()
    groups: Mapping[str, float] = field(default_factory=dict)
    """p-value of each group, corrected for the number of groups."""
    reason: str = ""
    """Why nothing was tested; empty where it was."""
    negligible: bool = False
    """Whether nothing was tested because next to nothing is left."""
    level: float = LEVEL
    shifts: Mapping[str, float] = field(default_factory=dict)
    """What the suspects may have moved each estimated parameter by, SI, by name; of
    `interval(robust=True)`.
    """
    part: float = 1.0
    """Fraction of the samples that was tested: of long records, blocks spread over them."""

    @property
    def found(self) -> tuple[LackRow, ...]:
        """The suspects that are named, surest first; empty: the tests are quiet."""
        return tuple(row for row in self.rows if row.found)

    @property
    def quiet(self) -> bool:
        """Whether nothing is named: the tests were made, or next to nothing is left."""
        return self.negligible or not (self.reason or self.found)

    @property
    def note(self) -> str:
        """What a reader must know, in a sentence; empty where nothing is missing."""
        if not self.found:
            return ""
        first, *others = self.found
        cannot = "; the record cannot distinguish them" if first.alternatives else ""
        more = f" Beside it: {listed([row.label for row in others])}." if others else ""
        return (
            f"The model or its loop lacks something: {first.label} ({first.name} "
            f"{first.shown_value}, p = {first.p_value:.2g}, {100 * first.share:.3g} % of the "
            f"squared residual{cannot}). {first.setting}{more}"
        )

    def to_frame(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame, one row for each suspect."""
        try:
            import pandas
        except ImportError:
            raise InputError('to_frame needs pandas: pip install "didim[frames]".') from None
        columns = ("name", "group", "joint", "value", "sigma", "unit", "p_value", "share",
                   "found", "alternatives", "setting")  # fmt: skip
        return pandas.DataFrame([{name: getattr(row, name) for name in columns}
                                 for row in self.rows])  # fmt: skip

    def __str__(self) -> str:
        if self.reason:
            return f"Lack of fit: not tested, {self.reason}."
        if not self.rows:
            return "Lack of fit: nothing to test."
        head = (
            f"{'suspect':<22} {'value':>11} {'sigma':>10} {'unit':<10} {'p':>9} {'share %':>8}  "
            "what adds it"
        )
        lines = [head, "-" * len(head)]
        for row in self.rows:
            mark = "*" if row.found else " "
            lines.append(
                f"{mark}{row.name:<21} {number(row.value):>11} {number(row.sigma):>10} "
                f"{row.unit:<10} {row.p_value:>9.2g} {100 * row.share:>8.3g}  {row.setting}"
            )
        answer = self.note or "The tests are quiet: nothing of this list is missing."
        part = "" if self.part == 1.0 else f" Tested on {100 * self.part:.2g} % of the records."
        return "\n".join([*lines, "", answer + part])


NOT_TESTED = LackOfFit(reason="the tests were not made")
"""Of an estimate that was made without the tests."""

SMALLEST_RESIDUAL = 1e-4
"""Of the torque: below it, nothing of importance can be missing."""

SMALLEST_POSITION_RESIDUAL = 1e-7
"""Of the positions, which a loop keeps near its reference whatever is missing."""
