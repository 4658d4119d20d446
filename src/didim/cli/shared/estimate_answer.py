"""An estimate in `--json`: the answer of `didim identify`, which others show within theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

from didim.cli.shared.answer import Answer, Number, OneOf
from didim.cli.shared.estimate_parts import (
    SuspectAnswer,
    TestAnswer,
    ValidationAnswer,
    tests,
    validations,
)

if TYPE_CHECKING:
    from didim.results import Estimate


@dataclass(frozen=True, eq=False)
class AlongMotionAnswer(Answer):
    """What inverse dynamics along the measured motion leaves of a fitted record."""

    experiment: str
    residual: Number
    residual_by_joint: list[Number]


@dataclass(frozen=True, eq=False)
class UseAnswer(Answer):
    """One thing that a model may be wanted for."""

    name: str
    level: Annotated[str, OneOf("yes", "care", "no")]
    why: str


@dataclass(frozen=True, eq=False)
class JudgementAnswer(Answer):
    """Whether the model may be used."""

    level: Annotated[str, OneOf("yes", "care", "no")]
    sentence: str
    headline: str
    """A record that is predicted as if it were another robot's; empty where there is none."""
    uses: list[UseAnswer]


@dataclass(frozen=True, eq=False)
class LinkAnswer(Answer):
    """What keeps one link from being a body."""

    joint: str
    lack: float
    """In round bodies of its described mass; 0: nothing."""
    lacking_mass: float
    """kg."""


@dataclass(frozen=True, eq=False)
class ConsistencyAnswer(Answer):
    """Whether a physical robot with these base parameters exists."""

    physical: bool
    reason: str
    links: list[LinkAnswer]
    negative: dict[str, float]
    """Rotor inertias and friction below zero, SI."""


@dataclass(frozen=True, eq=False)
class LackOfFitAnswer(Answer):
    """What the model or its loop lacks."""

    reason: str
    """Why nothing was tested; empty where it was."""
    negligible: bool
    level: float
    part: float
    """Fraction of the samples that was tested."""
    note: str
    """What a reader must know; empty where nothing is missing."""
    groups: dict[str, float]
    """p-value of each group of suspects."""
    shifts: dict[str, Number]
    """What the suspects may have moved each estimated parameter by, SI."""
    suspects: list[SuspectAnswer]
    """Surest first."""


@dataclass(frozen=True, eq=False)
class IdentifyAnswer(Answer):
    """The result of `didim identify`."""

    robot: str
    method: str
    status: Annotated[str, OneOf("converged", "stopped", "diverged", "unexcited")]
    message: str
    names: list[str]
    """Base parameters."""
    values: list[Number]
    """SI units."""
    sigma: list[Number]
    """Standard deviations as printed, eq. 16-18."""
    relative_sigma: list[Number]
    """Percent, eq. 19."""
    interval: list[list[Number]]
    """95 %, corrected for the colour of the residuals."""
    residual: Number
    """||Y - W chi|| / ||Y||, a fraction."""
    residual_by_joint: list[Number]
    residual_over_noise: list[Number] | None
    """What the equations leave of each joint, over the noise of its torque; 0 or null: not
    known.
    """
    validation: list[ValidationAnswer]
    fitted: list[ValidationAnswer]
    """The fitted records with the rows that rest_velocity left out."""
    along_motion: list[AlongMotionAnswer]
    """The fitted records along their measured motion."""
    unidentified: list[str]
    """Parameters and gains that the record does not identify, where that is all that is wrong."""
    iterations: int
    controller: dict[str, Any] | None
    """The final simulated loop; null where none was simulated."""
    gains: dict[str, list[Number]]
    """Estimated gains: value and sigma."""
    shapes: dict[str, list[Number]]
    """Parameters that the torque is not linear in, such as vs1: value, SI, and sigma, null where it
    was not estimated.
    """
    judgement: JudgementAnswer
    lack_of_fit: LackOfFitAnswer
    tests: dict[str, TestAnswer]
    """By name: durbin_wu_hausman, instruments, and of each joint j, from 1, whiteness_j and
    normality_j.
    """
    consistency: ConsistencyAnswer
    at_border: list[str]
    """Parameters that the border of what is physical has moved; their intervals do not hold."""
    fixed: list[str]
    """Parameters that the fixed values of the study determine; their sigma is 0."""
    drive_gains: dict[str, list[Number]]
    """Gains that were identified with the parameters, by joint: value and sigma; else empty."""
    notes: list[str]
    files: list[str]
    """What was written."""


def estimate_answer(estimate: Estimate, files: list[str]) -> IdentifyAnswer:
    """An estimate as a JSON object."""
    from didim.results.estimate_data import estimate_data
    from didim.results.judgement import judge

    data, judged = estimate_data(estimate), judge(estimate)
    uses = [UseAnswer(name=each.name, level=each.level, why=each.why) for each in judged.uses]
    own: dict[str, Any] = {
        "robot": estimate.model.robot.name,
        "shapes": {
            name: data["shapes"].get(name, [value, None])
            for name, value in estimate.model.full.shape_values.items()
        },
        "validation": validations(data["validation"]),
        "fitted": validations(data["fitted"]),
        "along_motion": [AlongMotionAnswer(**each) for each in data["along_motion"]],
        "controller": _controller(data["controller"]),
        "judgement": JudgementAnswer(
            level=judged.level, sentence=judged.sentence, headline=judged.headline, uses=uses
        ),
        "consistency": ConsistencyAnswer(**data["consistency"]),
        "lack_of_fit": LackOfFitAnswer(**data["lack_of_fit"]),
        "drive_gains": data["provenance"].get("drive_gains", {}),
        "tests": tests(data["tests"]),
        "files": files,
    }
    names = {each.name for each in fields(IdentifyAnswer)} - set(own)
    return IdentifyAnswer(**{name: data[name] for name in names}, **own)


def is_usable(estimate: Estimate) -> bool:
    """Whether it converged, and the model may be used for something."""
    from didim.results.judgement import judge
    from didim.results.status import Status

    return estimate.status is Status.CONVERGED and judge(estimate).level != "no"


def _controller(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """The loop as plain data; no limit is null."""
    if data is None or "saturation" not in data:
        return data
    limits = [float(limit) for limit in data["saturation"]]
    return {**data, "saturation": [None if math.isinf(limit) else limit for limit in limits]}
