"""Whether a model may be used, and for what: the answer that a report begins with.

The uses are judged one by one, since a model can be good for one and bad for another. Everything is
computed from the estimate itself, so that a saved one is judged alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from didim.results.doubts import ANOTHER, GOOD, WORSE, loaded_record
from didim.results.formatting import fraction
from didim.results.uses import (
    Judged,
    loop_gains,
    other_torque,
    prediction_ratio,
    recorded_torque,
    simulation,
    single_values,
)

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

_SENTENCES = {
    "yes": "This model may be used.",
    "care": "This model may be used with care.",
    "no": "Do not use this model.",
}


@dataclass(frozen=True)
class Use:
    """One thing that a model may be wanted for."""

    name: str
    level: str
    """"yes", "care" or "no"."""
    why: str


@dataclass(frozen=True)
class Judgement:
    """What a model may be used for."""

    recorded: Use
    """Torque of motions like the recorded ones."""
    other: Use
    """Torque of other motions."""
    simulation: Use
    """Simulation and model-based control."""
    values: Use
    """Single parameters."""
    gains: Use | None = None
    """Gains of the loop; None where no loop was simulated."""
    headline: str = ""
    """What a reader must know before anything else; empty where nothing is."""

    @property
    def uses(self) -> tuple[Use, ...]:
        """All of them."""
        found = self.recorded, self.other, self.simulation, self.values
        return found if self.gains is None else (*found, self.gains)

    @property
    def level(self) -> str:
        """Of the whole model: "no" where a recorded torque is not explained, "yes" where all but
        single values and gains hold.
        """
        if "no" in (self.recorded.level, self.other.level):
            return "no"
        return "yes" if {each.level for each in self.uses[:3]} == {"yes"} else "care"

    @property
    def sentence(self) -> str:
        """The answer in a sentence."""
        return _SENTENCES[self.level]

    @property
    def reason(self) -> str:
        """What keeps it from a plain yes; empty where nothing does."""
        if self.level == "yes":
            return ""
        doubts = (
            [self.recorded]
            if self.recorded.level == "no"
            else [each for each in self.uses[:3] if each.level != "yes"]
        )
        return "; ".join(f"{each.name}: {each.why}" for each in doubts)


def judge(estimate: Estimate) -> Judgement:
    """What the model of an estimate may be used for."""
    recorded = Use("torque of motions like the recorded ones", *recorded_torque(estimate))
    refused = recorded.level == "no"

    def use(name: str, judged: Callable[[Estimate], Judged]) -> Use:
        return Use(name, *(("no", "see the first line") if refused else judged(estimate)))

    return Judgement(
        recorded,
        use("torque of other motions", other_torque),
        use("simulation and model-based control", simulation),
        use("single values", single_values),
        use("gains of the loop", loop_gains) if _simulates(estimate) else None,
        _headline(estimate),
    )


def _simulates(estimate: Estimate) -> bool:
    """Whether the loop predicts the torque, so that its gains matter."""
    return estimate.controller is not None and estimate.preprocessing.states == "simulated"


def _headline(estimate: Estimate) -> str:
    """The record that is predicted as if it were another robot's, above all one with a load."""
    ratios = [(prediction_ratio(estimate, each), each) for each in estimate.validation]
    for ratio, each in sorted(ratios, key=lambda pair: -pair[0]):
        if each.load is not None and ratio > WORSE:
            return loaded_record(estimate.model, each, ratio)
    far = [each for each in ratios if each[0] > ANOTHER and each[1].worst > GOOD]
    if not far:
        return ""
    ratio, worst = max(far, key=lambda each: each[0])
    return (
        f"Record {worst.experiment!r} is predicted {ratio:.2g} times worse than the fit "
        f"({fraction(worst.worst)} of its torque unexplained, {fraction(estimate.residual)} of the "
        "fit's): it is that of another robot, a payload for example, or its columns and units "
        "differ."
    )
