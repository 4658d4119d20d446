"""`didim compare`: IDIM, IV, DIDIM and refined DIDIM in one table."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import didim
from didim.cli.shared.answer import Answer, Number, OneOf, printed
from didim.cli.shared.estimate_parts import (
    SuspectAnswer,
    TestAnswer,
    ValidationAnswer,
    suspects,
    tests,
    validations,
)
from didim.cli.shared.options import add_json, add_study
from didim.cli.shared.progress import Report, progress

if TYPE_CHECKING:
    from didim.study.compare import Comparison, Run

DESCRIPTION = "Parameters that differ by more than 3 sigma are flagged."
EXAMPLES = """
didim compare study.toml
didim compare study.toml --json
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A study."""
    add_study(command)
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Print the table; status 1 if a method did not converge."""
    from didim.study.compare import compare

    study = didim.load_study(options.study, options.set)
    with ExitStack() as bars:

        def bar(label: str) -> Report | None:
            bars.close()
            return bars.enter_context(progress(f"{label} of {study.model.robot.name}"))

        found = compare(study, bar)
    print(printed(_answer(study.model.robot.name, found)) if options.json else found.text())
    return 0 if found.converged else 1


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class DisagreementAnswer(Answer):
    """A parameter in which two methods differ beyond their uncertainty."""

    name: str
    between: list[str]
    sigmas: float


@dataclass(frozen=True, eq=False)
class SameRowsAnswer(Answer):
    """What the methods leave of one record, on the same rows for all."""

    use: Annotated[str, OneOf("fit", "held out")]
    experiment: str
    residual: list[Number]
    """One for each method that ran."""


@dataclass(frozen=True, eq=False)
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


def _answer(robot: str, found: Comparison) -> CompareAnswer:
    from didim.results.serialisation import finite

    apart = [
        DisagreementAnswer(name=each.name, between=list(each.between), sigmas=each.sigmas)
        for each in found.disagreements
    ]
    same = [
        SameRowsAnswer(use=use, experiment=name, residual=finite(errors))
        for use, name, errors in found.same_rows
    ]
    return CompareAnswer(
        robot=robot,
        methods=[_method(each) for each in found.runs],
        same_rows=same,
        disagreements=apart,
        preferred=found.preferred,
        advice=found.advice,
    )


def _method(run: Run) -> MethodAnswer:
    from didim.results.estimate_data import estimate_data
    from didim.results.serialisation import finite

    estimate = run.estimate
    if estimate is None:
        return MethodAnswer(
            label=run.label,
            status="not run",
            message=run.reason,
            names=[],
            values=[],
            sigma=[],
            residual=None,
            residual_by_joint=[],
            validation=[],
            lacks=[],
            not_tested=run.reason,
            tests={},
            seconds=0.0,
        )
    data = estimate_data(estimate)
    names = ("status", "message", "names", "values", "residual", "residual_by_joint")
    return MethodAnswer(
        label=run.label,
        sigma=finite(estimate.corrected_sigma.tolist()),
        validation=validations(data["validation"]),
        lacks=suspects(estimate.lack.found),
        not_tested=estimate.lack.reason,
        tests=tests(data["tests"]),
        seconds=run.seconds,
        **{name: data[name] for name in names},
    )
