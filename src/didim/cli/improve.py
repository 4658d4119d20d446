"""`didim improve`: what the records support is added to a study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from didim.cli.answers import ImproveAnswer, StepAnswer, SuspectAnswer, printed
from didim.cli.identify import answer, free_outputs, is_usable, named_output
from didim.cli.progress import progress
from didim.cli.saving import Writer, saved
from didim.improvement.path import Improvement, Step
from didim.output import Overwrite, write
from didim.report.html import ENDINGS
from didim.report.page import write_report
from didim.results.estimate import Estimate
from didim.results.lack_data import plain_row
from didim.results.serialisation import finite
from didim.results.store import files_of_result, save
from didim.study import load_study
from didim.study.improved import improved_study, model_inside


def run(options: argparse.Namespace) -> int:
    """Print the path, write the improved study and the report; status 1 if the last model did not
    converge or should not be used.
    """
    study = load_study(options.study, options.set)
    out = named_output(options.out, (".toml",))
    page = named_output(options.report, ENDINGS)
    inside = None if out is None else out.with_name(f"{out.stem}-model.json")
    wanted = [file for file in (out, page, inside) if file]
    overwrite = free_outputs(wanted, study, options.force)
    with progress(f"improving {study.model.robot.name}") as report:
        found = study.improve(report, origin={"command": options.command})
    own_model = model_inside(study, found)
    writers: list[tuple[Path | None, Writer]] = []
    if out is not None and inside is not None:

        def write_study(file: Path, over: Overwrite) -> None:
            write({file: improved_study(study, found, file, inside).encode()}, over)

        if own_model is not None:
            writers.append((inside, _saving(own_model)))
        writers.append((out, write_study))
    if page is not None:
        writers.append(
            (page, lambda file, over: write_report(found.estimate, file, None, None, over, found))
        )
    results = [saved(writer, file, overwrite, options.debug) for file, writer in writers if file]
    files = [str(each) for file, _ in results if file for each in files_of_result(file)]
    refused = " ".join(problem for _, problem in results if problem)
    if options.json:
        print(printed(_answer(found, files)))
    else:
        print(f"{found}\n\n{found.estimate.summary()}")
        if files:
            print(f"\nWritten: {', '.join(files)}")
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
    return 0 if is_usable(found.estimate) and not refused else 1


def _saving(estimate: Estimate) -> Writer:
    return lambda file, over: save(estimate, file, over)


def _answer(found: Improvement, files: list[str]) -> ImproveAnswer:
    return ImproveAnswer(
        robot=found.model.robot.name,
        improved=found.improved,
        ending=found.ending.name.lower(),
        message=found.ending.value,
        held_out=found.held_out,
        errors=finite(list(found.errors)),
        steps=[_step(each) for each in found.steps],
        first=answer(found.first, []),
        estimate=answer(found.estimate, []),
        files=files,
    )


def _step(step: Step) -> StepAnswer:
    numbers: dict[str, Any] = {
        name: finite([getattr(step, name)])[0] for name in ("before", "after", "ratio")
    }
    return StepAnswer(
        round=step.round,
        suspects=[SuspectAnswer(**finite(plain_row(row))) for row in step.suspects],
        outcome=step.outcome.name.lower(),
        change=step.change,
        why=step.why,
        **numbers,
    )
