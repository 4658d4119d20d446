"""`didim improve`: what the records support is added to a study."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import didim
from didim.cli.shared.answer import Answer, Number, OneOf
from didim.cli.shared.estimate_answer import IdentifyAnswer, estimate_answer, is_usable
from didim.cli.shared.estimate_parts import SuspectAnswer, suspects
from didim.cli.shared.options import add_file, add_force, add_json, add_study
from didim.cli.shared.outputs import Writer, free_outputs, named_output, save_all, show
from didim.cli.shared.progress import progress
from didim.output import PAGE_ENDINGS, Overwrite, refuse_inputs, write

if TYPE_CHECKING:
    from didim.improvement.path import Improvement, Step

DESCRIPTION = (
    "Identify, test what is missing, add it, repeat. Something stays only if records that the fit "
    'did not see are predicted better: those with use = "validate", or each third of the others in '
    "turn. Exit status as for identify, of the last model."
)
EXAMPLES = """
didim improve study.toml
didim improve study.toml --out improved.toml --report improved.html
didim improve study.toml --set controller.law=unknown --json
"""

_OUTCOMES = OneOf(
    "kept", "not_better", "unidentifiable", "failed", "not_applicable", "for_a_person"
)
_ENDINGS = OneOf("quiet", "unsupported", "limit", "not_tested", "too_short", "request")


def arguments(command: argparse.ArgumentParser) -> None:
    """A study, and the files to write."""
    add_study(command)
    add_json(command)
    add_file(command, "--out", help="write the improved study: a .toml file, not the old one")
    add_file(command, "--report", help="write an HTML report with the path to the model")
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print the path, write the improved study and the report; status 1 if the last model did not
    converge or should not be used.
    """
    from didim.report.page import write_report
    from didim.results.store import files_of_result, save
    from didim.study.improved import improved_study, model_inside

    study = didim.load_study(options.study, options.set)
    out = named_output(options.out, (".toml",))
    page = named_output(options.report, PAGE_ENDINGS)
    inside = None if out is None else out.with_name(f"{out.stem}-model.json")
    outputs = [each for file in (out, page, inside) if file for each in files_of_result(file)]
    overwrite = free_outputs(outputs, options.force)
    if outputs:
        refuse_inputs(outputs, study.inputs)
    with progress(f"improving {study.model.robot.name}") as report:
        found = study.improve(report, origin={"command": options.command})
    own_model = model_inside(study, found)
    writers: list[tuple[Path | None, Writer]] = []
    if out is not None and inside is not None:

        def write_study(file: Path, over: Overwrite) -> None:
            write({file: improved_study(study, found, file, inside).encode()}, over)

        if own_model is not None:
            writers.append((inside, lambda file, over: save(own_model, file, over)))
        writers.append((out, write_study))
    writers.append(
        (page, lambda file, over: write_report(found.estimate, file, None, None, over, found))
    )
    saved = save_all(writers, overwrite, options.debug)
    files = [str(each) for file in saved.files for each in files_of_result(file)]
    show(
        options,
        lambda: _answer(found, files),
        lambda: f"{found}\n\n{found.estimate.summary()}",
        files,
        saved.refused,
    )
    return 0 if is_usable(found.estimate) and not saved.refused else 1


@dataclass(frozen=True, eq=False)
class StepAnswer(Answer):
    """One suspect that `didim improve` looked at."""

    round: int
    """From 1."""
    suspects: list[SuspectAnswer]
    """What was added together."""
    outcome: Annotated[str, _OUTCOMES]
    change: str
    """What was changed."""
    why: str
    before: Number
    """Held-out error without it, a fraction of what is compared; null where it was not tried."""
    after: Number
    """With it."""
    ratio: Number
    """After over before, the geometric mean over the joints."""


@dataclass(frozen=True, eq=False)
class ImproveAnswer(Answer):
    """The result of `didim improve`."""

    robot: str
    improved: bool
    """Whether anything was added."""
    ending: Annotated[str, _ENDINGS]
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


def _answer(found: Improvement, files: list[str]) -> ImproveAnswer:
    from didim.results.serialisation import finite

    return ImproveAnswer(
        robot=found.model.robot.name,
        improved=found.improved,
        ending=found.ending.name.lower(),
        message=found.ending.value,
        held_out=found.held_out,
        errors=finite(list(found.errors)),
        steps=[_step(each) for each in found.steps],
        first=estimate_answer(found.first, []),
        estimate=estimate_answer(found.estimate, []),
        files=files,
    )


def _step(step: Step) -> StepAnswer:
    from didim.results.serialisation import finite

    numbers: dict[str, Any] = {
        name: finite([getattr(step, name)])[0] for name in ("before", "after", "ratio")
    }
    return StepAnswer(
        round=step.round,
        suspects=suspects(step.suspects),
        outcome=step.outcome.name.lower(),
        change=step.change,
        why=step.why,
        **numbers,
    )
