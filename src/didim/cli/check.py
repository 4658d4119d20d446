"""`didim check`: a diagnosis of records and loop."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Annotated

import didim
from didim.cli.shared.answer import Answer, OneOf, printed
from didim.cli.shared.options import add_json, add_study
from didim.cli.shared.progress import progress

DESCRIPTION = "Each finding is pass, warn or fail, with a remedy. Exit status 1 if one fails."
EXAMPLES = """
didim check study.toml
didim check study.toml --set experiment.between=[0,10]
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A study."""
    add_study(command)
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Print the findings; status 1 if one fails, 0 also where some could not be judged."""
    from didim.checks.finding import LEVELS

    study = didim.load_study(options.study, options.set)
    with progress(f"checking {study.name}"):
        findings = study.check()
    counts = {level: sum(each.level == level for each in findings) for level in LEVELS}
    if options.json:
        answers = [FindingAnswer(**vars(each)) for each in findings]
        print(printed(CheckAnswer(passed=not counts["fail"], findings=answers)))
    else:
        print(*findings, sep="\n")
        print(
            f"\n{counts['pass']} passed, {counts['unjudged']} not judged, {counts['warn']} to look "
            f"at, {counts['fail']} failed."
        )
    return 1 if counts["fail"] else 0


@dataclass(frozen=True, eq=False)
class FindingAnswer(Answer):
    """One finding of `didim check`."""

    check: str
    level: Annotated[str, OneOf("pass", "unjudged", "warn", "fail")]
    experiment: str
    found: str
    remedy: str


@dataclass(frozen=True, eq=False)
class CheckAnswer(Answer):
    """The result of `didim check`."""

    passed: bool
    findings: list[FindingAnswer]
