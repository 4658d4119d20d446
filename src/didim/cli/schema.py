"""`didim schema`: JSON Schemas of the study file and of what --json prints."""

from __future__ import annotations

import argparse
import json
from typing import Any

from didim.cli.base import BaseAnswer
from didim.cli.check import CheckAnswer
from didim.cli.compare import CompareAnswer
from didim.cli.fleet import FleetAnswer
from didim.cli.improve import ImproveAnswer
from didim.cli.league import LeagueAnswer
from didim.cli.payload import PayloadAnswer
from didim.cli.shared.answer import Answer, schema_of_answer
from didim.cli.shared.estimate_answer import IdentifyAnswer
from didim.cli.shared.plan_answer import ExciteAnswer
from didim.cli.simulate import SimulateAnswer

DESCRIPTION = "Editors complete and check study files with it."
EXAMPLES = """
didim schema study
didim schema identify
"""

ANSWERS: dict[str, type[Answer]] = {
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
"""What each command with --json prints."""


def arguments(command: argparse.ArgumentParser) -> None:
    """The name of a schema."""
    names = ("study", *ANSWERS)
    command.add_argument(
        "of",
        metavar="WHAT",
        choices=names,
        nargs="?",
        default="study",
        help=f"one of {', '.join(names)}",
    )


def run(options: argparse.Namespace) -> int:
    """Print one schema."""
    print(json.dumps(schema_of(options.of), indent=2))
    return 0


def schema_of(what: str) -> dict[str, Any]:
    """The JSON Schema of "study" or of a command's --json."""
    schema = _schema_of_study() if what == "study" else schema_of_answer(ANSWERS[what])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _schema_of_study() -> dict[str, Any]:
    from didim.study.schema import StudyFile

    return StudyFile.model_json_schema()
