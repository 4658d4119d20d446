"""`didim schema`: JSON Schemas of the study file and of what --json prints."""

from __future__ import annotations

import argparse
import json
from typing import Any

from didim.cli.answers import SCHEMAS
from didim.study.schema import StudyFile


def run(options: argparse.Namespace) -> int:
    """Print one schema."""
    print(json.dumps(schema_of(options.of), indent=2))
    return 0


def schema_of(what: str) -> dict[str, Any]:
    """The JSON Schema of "study" or of a command's --json."""
    schema: dict[str, Any] = (StudyFile if what == "study" else SCHEMAS[what]).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
