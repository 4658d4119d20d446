"""What `--json` prints, as schemas: `didim schema identify` and its like publish them. Numbers that
are not finite are null.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Number = float | None


class Answer(BaseModel):
    """One JSON object."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class LoadAnswer(Answer):
    """A load that a record has more than the model."""

    mass: float
    """kg; negative where the model has it and the record does not."""
    sigma: float
    share: float
    """Fraction of the squared error that it explains."""
    joint: int
    """Whose link carries it, from 0."""


class ValidationAnswer(Answer):
    """How well the model predicts a record that it was not fitted to."""

    experiment: str
    residual: Number
    residual_by_joint: list[Number]
    rows: int
    message: str
    """Why it could not be predicted; empty where it could."""
    left_out: Number
    """Fraction of the rows that rest_velocity leaves out of a fit."""
    selected: Number
    """The residual without these rows."""
    along_motion: Number
    """The residual of inverse dynamics along the measured motion, after a method that simulates;
    null where it is not known.
    """
    along_motion_by_joint: list[Number] | None
    seen: Number
    """Fraction of the record that was fitted to."""
    load: LoadAnswer | None
    """A load that explains most of the error; null: none does."""


class AlongMotionAnswer(Answer):
    """What inverse dynamics along the measured motion leaves of a fitted record."""

    experiment: str
    residual: Number
    residual_by_joint: list[Number]


class UseAnswer(Answer):
    """One thing that a model may be wanted for."""

    name: str
    level: str = Field(json_schema_extra={"enum": ["yes", "care", "no"]})
    why: str


class JudgementAnswer(Answer):
    """Whether the model may be used."""

    level: str = Field(json_schema_extra={"enum": ["yes", "care", "no"]})
    sentence: str
    headline: str
    """A record that is predicted as if it were another robot's; empty where there is none."""
    uses: list[UseAnswer]


class LinkAnswer(Answer):
    """What keeps one link from being a body."""

    joint: str
    lack: float
    """In round bodies of its described mass; 0: nothing."""
    lacking_mass: float
    """kg."""


class ConsistencyAnswer(Answer):
    """Whether a physical robot with these base parameters exists."""

    physical: bool
    reason: str
    links: list[LinkAnswer]
    negative: dict[str, float]
    """Rotor inertias and friction below zero, SI."""


class SuspectAnswer(Answer):
    """One thing that the model or its loop may lack."""

    name: str
    group: str
    joint: int | None
    """Counted from 0; null: no joint's own."""
    value: Number
    """What it would be, if it alone were added."""
    sigma: Number
    unit: str
    p_value: Number
    """Corrected for the number of suspects."""
    share: Number
    """Fraction of the squared residual that it would remove."""
    remedy: str
    setting: str
    found: bool
    """Whether it is named."""
    alternatives: list[str]
    """Suspects that the record cannot distinguish from it."""
    effect: str
    shapes: dict[str, float]


class LackOfFitAnswer(Answer):
    """What the model or its loop lacks."""

    reason: str
    """Why nothing was tested; empty where it was."""
    negligible: bool
    level: float
    note: str
    """What a reader must know; empty where nothing is missing."""
    groups: dict[str, float]
    """p-value of each group of suspects."""
    shifts: dict[str, Number]
    """What the suspects may have moved each estimated parameter by, SI."""
    suspects: list[SuspectAnswer]
    """Surest first."""


class TestAnswer(Answer):
    """A hypothesis that should hold, tested on what the fit leaves."""

    statistic: Number
    """Null: the test does not apply."""
    p_value: Number
    meaning: str
    """What that says, or why the test does not apply."""


class IdentifyAnswer(Answer):
    """The result of `didim identify`."""

    robot: str
    method: str
    status: str = Field(
        json_schema_extra={"enum": ["converged", "stopped", "diverged", "unexcited"]}
    )
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


class StepAnswer(Answer):
    """One suspect that `didim improve` looked at."""

    round: int
    """From 1."""
    suspects: list[SuspectAnswer]
    """What was added together."""
    outcome: str = Field(
        json_schema_extra={
            "enum": [
                "kept",
                "not_better",
                "unidentifiable",
                "failed",
                "not_applicable",
                "for_a_person",
            ]
        }
    )
    change: str
    """What was changed."""
    why: str
    before: Number
    """Held-out error without it, a fraction of the torque; null where it was not tried."""
    after: Number
    """With it."""
    ratio: Number
    """After over before, the geometric mean over the joints."""


class ImproveAnswer(Answer):
    """The result of `didim improve`."""

    robot: str
    improved: bool
    """Whether anything was added."""
    ending: str = Field(
        json_schema_extra={
            "enum": ["quiet", "unsupported", "limit", "not_tested", "too_short", "request"]
        }
    )
    message: str
    """Why the path ends, in a sentence."""
    held_out: str
    """What the fits did not see; empty where nothing had to be tried."""
    errors: list[Number]
    """Held-out error before the first and after each kept step."""
    steps: list[StepAnswer]
    first: IdentifyAnswer
    """The identification of the study as it is."""
    estimate: IdentifyAnswer
    """That of the last structure that was kept."""
    files: list[str]
    """What was written."""


class PayloadSigmaAnswer(Answer):
    """Standard deviations of a load; null where the motion identifies nothing."""

    mass: Number
    centre: list[Number]
    inertia: list[list[Number]]


class PayloadAnswer(Answer):
    """The result of `didim payload`."""

    robot: str
    joint: str
    """The joint whose link carries the load."""
    seen: bool
    """Whether the 95 % interval of the mass excludes zero."""
    mass: float
    """kg."""
    mass_interval: list[Number]
    """95 %, for the uncertainty of both records and the colour of their residuals."""
    centre: list[float]
    """m, in the frame of the joint."""
    inertia: list[list[float]]
    """kg m^2, about the centre."""
    sigma: PayloadSigmaAnswer
    parameters: dict[str, float]
    """XX XY XZ YY YZ ZZ MX MY MZ M, about the origin of the joint's frame."""
    parameter_sigma: dict[str, Number]
    identified: list[str]
    """The parameters that the motion identifies."""
    at_border: bool
    """Whether least squares alone gave no physical body."""
    friction: str = Field(json_schema_extra={"enum": ["estimated", "held"]})
    notes: list[str]
    estimate: IdentifyAnswer
    """The robot with its load."""
    files: list[str]
    """What was written."""


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


class ExciteAnswer(Answer):
    """The result of `didim excite`."""

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
    margins: dict[str, float]
    """How far the motion stays inside each limit, as a fraction of it."""
    binding: list[str]
    """The limits with margins below 5 %, nearest first."""
    limits: LimitsAnswer
    seconds: float
    """That the design took."""
    files: list[str]
    """What was written."""


class FindingAnswer(Answer):
    """One finding of `didim check`."""

    check: str
    level: str = Field(json_schema_extra={"enum": ["pass", "unjudged", "warn", "fail"]})
    experiment: str
    found: str
    remedy: str


class CheckAnswer(Answer):
    """The result of `didim check`."""

    passed: bool
    findings: list[FindingAnswer]


class MethodAnswer(Answer):
    """One method of `didim compare`."""

    label: str
    status: str
    """Of the identification, or "not run"."""
    message: str
    names: list[str]
    values: list[Number]
    sigma: list[Number]
    """Corrected for the colour of the residuals."""
    residual: Number
    residual_by_joint: list[Number]
    validation: list[ValidationAnswer]
    lacks: list[SuspectAnswer]
    """What the tests name, surest first; empty: nothing, or they were not made."""
    not_tested: str
    """Why the tests were not made; empty where they were."""
    tests: dict[str, TestAnswer]
    """Of the fit, by name."""
    seconds: float


class DisagreementAnswer(Answer):
    """A parameter in which two methods differ beyond their uncertainty."""

    name: str
    between: list[str]
    sigmas: float


class SameRowsAnswer(Answer):
    """What the methods leave of one record, on the same rows for all."""

    use: str = Field(json_schema_extra={"enum": ["fit", "held out"]})
    experiment: str
    residual: list[Number]
    """One for each method that ran."""


class CompareAnswer(Answer):
    """The result of `didim compare`."""

    robot: str
    methods: list[MethodAnswer]
    same_rows: list[SameRowsAnswer]
    disagreements: list[DisagreementAnswer]
    preferred: str | None
    """Label of the method whose estimate to prefer, by the tests; null: they do not say."""
    advice: str
    """Why, in a sentence; empty where the tests do not say."""


class MujocoAnswer(Answer):
    """Root mean squares of positions by joint, rad or m."""

    difference: list[Number]
    """Of MuJoCo and didim."""
    error_of_didim: list[Number] | None
    """Against the record; null where that has no positions."""
    error_of_mujoco: list[Number] | None


class MotionAnswer(Answer):
    """One record of `didim simulate`."""

    experiment: str
    file: str
    completed: bool
    message: str
    samples: int
    mujoco: MujocoAnswer | None
    """MuJoCo in the same loop, where it was asked for (--mujoco)."""


class SimulateAnswer(Answer):
    """The result of `didim simulate`."""

    robot: str
    motions: list[MotionAnswer]


class ParameterAnswer(Answer):
    """One base parameter."""

    name: str
    formula: str
    nominal: Number


class ShapeAnswer(Answer):
    """One parameter that the torque is not linear in."""

    name: str
    unit: str
    value: float
    known: bool
    """Whether it is held at its value unless it is asked for."""


class BaseAnswer(Answer):
    """The result of `didim base`."""

    robot: str
    parameters: list[ParameterAnswer]
    shapes: list[ShapeAnswer]
    channels: list[str]
    """Names of the logged channels that effects need."""


class MemberAnswer(Answer):
    """One identification of a fleet."""

    name: str
    """Of its file."""
    robot: str
    time: float | None
    """Days since 1970 for dates, else the number in the name; null: not known."""
    status: str
    """converged, stopped, diverged or unexcited; failed where there is no estimate."""
    reason: str
    verdict: str = Field(json_schema_extra={"enum": ["yes", "care", "no", ""]})
    names: list[str]
    values: list[Number]
    sigma: list[Number]
    """Corrected for the colour of the residuals."""
    residual: Number
    held_out: Number
    seconds: Number


class FleetParameterAnswer(Answer):
    """One parameter of a fleet."""

    name: str
    mean: float
    """Of the robots that do not differ, SI."""
    between: float
    """Standard deviation between them, beyond that of their estimates."""
    scatter: float
    """From day to day, over what the intervals say; at least 1."""


class FleetFindingAnswer(Answer):
    """One parameter of one robot that stands out."""

    kind: str = Field(json_schema_extra={"enum": ["differs", "drifts"]})
    robot: str
    parameter: str
    value: float
    """SI: of the robot at its mean time, or its slope per day."""
    sigma: float
    usual: float
    """Mean of the others; 0 for a slope."""
    change: Number
    """Fraction: against the others, or from the first to the last time."""
    p_value: float
    """Corrected for the number of tests."""


class FleetAnswer(Answer):
    """The result of `didim fleet`."""

    sentence: str
    robots: list[str]
    findings: list[FleetFindingAnswer]
    """Surest first."""
    parameters: list[FleetParameterAnswer]
    members: list[MemberAnswer]
    tests: int
    notes: list[str]
    files: list[str]
    """What was written."""


class ScoreAnswer(Answer):
    """One method on one robot, loop, trajectory, noise and fault, over all seeds."""

    robot: str
    loop: str
    trajectory: str
    noise: str
    fault: str
    method: str
    runs: int
    failed: int
    """Without an estimate."""
    unconverged: int
    """With an estimate that did not converge."""
    error: Number
    """||chi - truth|| / ||truth|| of the base parameters, median; null: nothing converged."""
    torque: Number
    """Residual of a held-out motion without noise, median."""
    coverage: Number
    """Fraction of the 95 % intervals that hold the true value."""
    seconds: Number
    """Median."""


class LeagueFailureAnswer(Answer):
    """One run that did not converge."""

    case: str
    method: str
    seed: int
    status: str
    reason: str


class LeagueAnswer(Answer):
    """The result of `didim league`."""

    name: str
    seeds: int
    runs: int
    table: list[ScoreAnswer]
    failures: list[LeagueFailureAnswer]
    """Every run that failed or did not converge."""
    files: list[str]
    """What was written."""


SCHEMAS: dict[str, type[Answer]] = {
    "identify": IdentifyAnswer,
    "check": CheckAnswer,
    "compare": CompareAnswer,
    "improve": ImproveAnswer,
    "payload": PayloadAnswer,
    "excite": ExciteAnswer,
    "simulate": SimulateAnswer,
    "base": BaseAnswer,
    "fleet": FleetAnswer,
    "league": LeagueAnswer,
}


def printed(answer: Answer) -> str:
    """The object as text."""
    return answer.model_dump_json(indent=2)
