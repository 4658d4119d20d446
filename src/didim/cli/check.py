"""`didim check`: a diagnosis of records and loop."""

from __future__ import annotations

import argparse

from didim.checks.finding import LEVELS
from didim.cli.answers import CheckAnswer, FindingAnswer, printed
from didim.cli.progress import progress
from didim.study import load_study


def run(options: argparse.Namespace) -> int:
    """Print the findings; status 1 if one fails, 0 also where some could not be judged."""
    study = load_study(options.study, options.set)
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
