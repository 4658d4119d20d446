"""`Finding`: one parameter of one robot that stands out in a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from didim.results.formatting import number


class Kind(StrEnum):
    """What is found about a robot."""

    DIFFERS = "differs"
    DRIFTS = "drifts"


@dataclass(frozen=True)
class Finding:
    """One parameter of one robot that stands out."""

    kind: Kind
    robot: str
    parameter: str
    value: float
    """SI: of the robot at its mean time, or its slope per unit of time."""
    sigma: float
    usual: float
    """Mean of the other robots, or zero for a slope."""
    change: float
    """Fraction: against the others, or of its own value from the first to the last time."""
    p_value: float
    """Corrected for the number of tests."""

    @property
    def sentence(self) -> str:
        """What was found, for a reader."""
        amount, sign = f"{100 * abs(self.change):.2g} %", self.change > 0
        sure = f"p = {self.p_value:.1e}"
        if self.kind is Kind.DRIFTS:
            return (
                f"{self.parameter} of {self.robot} {'grew' if sign else 'fell'} by {amount} from "
                f"the first to the last time ({sure})."
            )
        return (
            f"{self.parameter} of {self.robot} is {amount} {'above' if sign else 'below'} the "
            f"others: {number(self.value)} against {number(self.usual)} ({sure})."
        )
