"""Where the result comes from: command, settings, versions and hashes of the data, to run it
again.
"""

from __future__ import annotations

import json
import re
from typing import Any

from didim.report.data import Subject
from didim.report.sections.section import Section


class Origin(Section):
    """All that is needed to run it again."""

    anchor, title = "origin", "To run it again"

    def content(self, subject: Subject) -> dict[str, Any]:
        """Provenance as it was kept with the estimate."""
        origin, robot = subject.estimate.provenance, subject.estimate.model.robot
        study = origin.get("study")
        return {
            "command": origin.get("command", ""),
            "settings": _text(origin.get("settings", "")),
            "study": _text(study) if study else "",
            "versions": origin.get("versions", {}),
            "data": [
                *(("fit", each) for each in origin.get("data", [])),
                *(("held out", each) for each in origin.get("held_out", [])),
            ],
            "files": origin.get("files", []),
            "robot": robot.name,
            "reference": robot.reference,
            "effects": subject.estimate.model.full.effects,
        }


def _text(settings: Any) -> str:
    """JSON with lists of plain values on one line."""
    if isinstance(settings, str):
        return settings
    text = json.dumps(settings, indent=2, ensure_ascii=False, default=repr)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found.group().split()), text)
