"""`didim compare`: IDIM, IV, DIDIM and refined DIDIM in one table."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from didim.cli.answers import (
    CompareAnswer,
    DisagreementAnswer,
    MethodAnswer,
    SameRowsAnswer,
    SuspectAnswer,
    printed,
)
from didim.cli.identify import tests, validations
from didim.cli.progress import Report, progress
from didim.results.estimate_data import estimate_data
from didim.results.lack_data import plain_row
from didim.results.serialisation import finite
from didim.study import load_study
from didim.study.compare import Comparison, Run, compare


def run(options: argparse.Namespace) -> int:
    """Print the table; status 1 if a method did not converge."""
    study = load_study(options.study, options.set)
    with ExitStack() as bars:

        def bar(label: str) -> Report | None:
            bars.close()
            return bars.enter_context(progress(f"{label} of {study.model.robot.name}"))

        found = compare(study, bar)
    print(printed(_answer(study.model.robot.name, found)) if options.json else found.text())
    return 0 if found.converged else 1


def _answer(robot: str, found: Comparison) -> CompareAnswer:
    apart = [
        DisagreementAnswer(name=each.name, between=list(each.between), sigmas=each.sigmas)
        for each in found.disagreements
    ]
    same = [
        SameRowsAnswer(use=use, experiment=name, residual=finite(errors))
        for use, name, errors in found.same_rows
    ]
    methods = [_method(each) for each in found.runs]
    return CompareAnswer(
        robot=robot,
        methods=methods,
        same_rows=same,
        disagreements=apart,
        preferred=found.preferred,
        advice=found.advice,
    )


def _method(run: Run) -> MethodAnswer:
    estimate = run.estimate
    if estimate is None:
        empty: dict[str, list[float | None]] = {"values": [], "sigma": [], "residual_by_joint": []}
        return MethodAnswer(
            label=run.label,
            status="not run",
            message=run.reason,
            names=[],
            residual=None,
            validation=[],
            lacks=[],
            not_tested=run.reason,
            tests={},
            seconds=0.0,
            **empty,
        )
    data = estimate_data(estimate)
    names = ("status", "message", "names", "values", "residual", "residual_by_joint")
    return MethodAnswer(
        label=run.label,
        sigma=finite(estimate.corrected_sigma.tolist()),
        validation=validations(data),
        lacks=[SuspectAnswer(**finite(plain_row(row))) for row in estimate.lack.found],
        not_tested=estimate.lack.reason,
        tests=tests(data),
        seconds=run.seconds,
        **{name: data[name] for name in names},
    )
