"""Where the result comes from: command, settings, versions and hashes of the data, to
reproduce it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from didim.report.data import ReportData
from didim.report.sections.section import Section


class Origin(Section):
    """All that is needed to reproduce the result."""

    anchor, title = "origin", "How to reproduce it"

    def content(self, data: ReportData) -> dict[str, Any]:
        """Provenance as it was kept with the estimate."""
        origin, robot = data.estimate.provenance, data.estimate.model.robot
        study, effects = origin.get("study"), data.estimate.model.full.effects
        return {
            "command": origin.get("command", ""),
            "settings": _text(origin.get("settings", "")),
            "study": _text(study) if study else "",
            "versions": origin.get("versions", {}),
            "records": [
                *(("fit", each) for each in origin.get("data", [])),
                *(("held out", each) for each in origin.get("held_out", [])),
            ],
            "files": origin.get("files", []),
            "robot": robot.name,
            "reference": robot.reference,
            "effects": None
            if effects is None
            else [each if isinstance(each, str) else each.name for each in effects],
        }


def _text(settings: Any) -> str:
    """JSON with lists of plain values on one line."""
    if isinstance(settings, str):
        return settings
    text = json.dumps(settings, indent=2, ensure_ascii=False, default=repr)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found.group().split()), text)
