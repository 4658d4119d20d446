"""How the model was improved: what was tried, and the held-out error along the path."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.improvement.path import Improvement
from didim.report.data import ReportData
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.results.formatting import fraction


class HowImproved(Section):
    """The path of `didim.improve`."""

    anchor, title = "improvement", "How the model was improved"

    def applies(self, data: ReportData) -> bool:
        """Only where the model was improved, or this was tried."""
        return data.improvement is not None

    def content(self, data: ReportData) -> dict[str, Any]:
        """A table of the steps, and a picture of the error."""
        found = data.improvement
        assert found is not None
        rows = [
            {
                "round": step.round,
                "label": step.label,
                "value": step.suspects[0].shown_value,
                "p": f"{step.suspects[0].p_value:.2g}",
                "share": fraction(step.suspects[0].share),
                "change": step.change,
                "errors": step.shown_errors,
                "kept": step.kept,
                "outcome": " ".join([step.outcome.value, *([f"({step.why})"] if step.why else [])]),
            }
            for step in found.steps
        ]
        figures = [_errors(found)] if len(found.errors) > 1 else []
        return {"rows": rows, "figures": figures, "found": found}


def _errors(found: Improvement) -> Figure:
    errors = 100 * np.array(found.errors)
    added = ", ".join(f"{k + 1}: {step.label}" for k, step in enumerate(found.kept))
    return Figure(
        "Is what the fit did not see predicted better?",
        f"Added: {added}.",
        "things added",
        f"held-out error, % of the {found.compared}",
        (Series("held out", color(0), np.arange(errors.size), errors, "marks"),),
        scale="log",
        whole=True,
    )
