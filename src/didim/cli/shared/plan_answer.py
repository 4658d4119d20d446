"""What `didim excite` prints: a text, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from didim.cli.shared.answer import Answer, Number

if TYPE_CHECKING:
    from didim.design import Plan


@dataclass(frozen=True, eq=False)
class LimitsAnswer(Answer):
    """What the motion does not exceed."""

    position: list[list[float]]
    """Lower and upper of each joint, rad or m."""
    velocity: list[float]
    acceleration: list[float]
    jerk: list[float]
    torque: list[Number]
    """Null: unlimited."""
    torque_reserve: float
    floor: float | None
    """m; null: there is none."""
    box: list[list[Number]] | None
    self_collision: float | None
    """Clearance, m; null: not watched."""


@dataclass(frozen=True, eq=False)
class PlanAnswer(Answer):
    """One planned trajectory."""

    robot: str
    joints: list[str]
    method: str
    duration: float
    """s."""
    seed: int
    gains_unknown: bool
    stopped: bool
    """Whether it was stopped on request: the best plan until then."""
    messages: list[str]
    names: list[str]
    """Base parameters, then unknown gains."""
    values: list[Number]
    """Nominal, SI."""
    sigma: list[Number]
    """Predicted standard deviations, SI."""
    relative_sigma: list[Number]
    """Percent of the nominal values."""
    sigma_random: list[Number] | None
    """Those of the best random plan; null: not compared."""
    sigma_before: list[Number] | None
    """Those of what was known before; null: nothing was given."""
    noise: list[float]
    """Standard deviation of the torque of a sample, N.m or N."""
    rate: float
    """Samples per second of the record."""
    settings: dict[str, Any]
    """Criterion, basis and other arguments of the design."""
    margins: dict[str, float]
    """How far the motion stays inside each limit, as a fraction of it."""
    binding: list[str]
    """The limits with margins below 5 %, nearest first."""
    limits: LimitsAnswer
    seconds: float
    """That the design took."""


@dataclass(frozen=True, eq=False)
class ExciteAnswer(PlanAnswer):
    """The result of `didim excite`: the trajectory, or the last one of several, whose sigma is that
    of all of them together.
    """

    earlier: list[PlanAnswer]
    """The trajectories before it, where several were planned."""
    files: list[str]
    """What was written."""


def answer_of(plans: Sequence[Plan], files: list[str]) -> ExciteAnswer:
    """The answer for one plan or several."""
    *earlier, last = plans
    before = [PlanAnswer(**_plain(plan)) for plan in earlier]
    return ExciteAnswer(**_plain(last), earlier=before, files=files)


def text_of(plans: Sequence[Plan], count: int) -> str:
    """The summaries; what is noted of all is said once, at the end."""
    if count == 1:
        return plans[0].summary()
    *earlier, last = plans
    own = [
        replace(plan, messages=tuple(each for each in plan.messages if each not in last.messages))
        for plan in earlier
    ]
    return "\n\n".join(
        f"trajectory {k} of {count}\n{plan.summary()}" for k, plan in enumerate([*own, last], 1)
    )


def _plain(plan: Plan) -> dict[str, Any]:
    from didim.design.files import plain_plan

    return {**plain_plan(plan), "seconds": plan.seconds}
