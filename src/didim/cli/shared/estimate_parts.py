"""Parts of an estimate in `--json` that several commands show: held-out records,
suspects, tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from didim.cli.shared.answer import Answer, Number

if TYPE_CHECKING:
    from didim.results import LackRow


@dataclass(frozen=True, eq=False)
class LoadAnswer(Answer):
    """A load that a record has more than the model."""

    mass: float
    """kg; negative where the model has it and the record does not."""
    sigma: float
    share: float
    """Fraction of the squared error that it explains."""
    joint: int
    """Whose link carries it, from 0."""


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class TestAnswer(Answer):
    """A hypothesis that should hold, tested on what the fit leaves."""

    statistic: Number
    """Null: the test does not apply."""
    p_value: Number
    meaning: str
    """What that says, or why the test does not apply."""


def validations(data: list[dict[str, Any]]) -> list[ValidationAnswer]:
    """How well an estimate predicts records, from its plain data."""
    return [_validation(each) for each in data]


def suspects(rows: Iterable[LackRow]) -> list[SuspectAnswer]:
    """Rows of the table of suspects."""
    from didim.results.lack_data import plain_row
    from didim.results.serialisation import finite

    return [SuspectAnswer(**finite(plain_row(row))) for row in rows]


def tests(data: dict[str, dict[str, Any]]) -> dict[str, TestAnswer]:
    """The tests of an estimate, from its plain data."""
    return {name: TestAnswer(**each) for name, each in data.items()}


def _validation(data: dict[str, Any]) -> ValidationAnswer:
    along, load = data["along_motion"] or {}, data["load"]
    own: dict[str, Any] = {
        "along_motion": along.get("residual"),
        "along_motion_by_joint": along.get("residual_by_joint"),
        "load": None if load is None else LoadAnswer(**load),
    }
    names = {each.name for each in fields(ValidationAnswer)} - set(own)
    return ValidationAnswer(**{name: data[name] for name in names}, **own)
