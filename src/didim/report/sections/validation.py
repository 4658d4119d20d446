"""Records that the fit did not see, beside what the model predicts of them."""

from __future__ import annotations

from typing import Any

from didim.report.data import Subject
from didim.report.sections.section import Section
from didim.report.sections.torques import torque_figures
from didim.results.formatting import share


class HeldOut(Section):
    """What is left of each held-out record, by joint, and its torques."""

    anchor, title = "validation", "Does it predict what it has not seen?"

    def absent(self, subject: Subject) -> str:
        """Nothing was held out."""
        if subject.estimate.validation:
            return ""
        return (
            'No record was held out. Give one: use = "validate" in the study, or validation= in '
            "didim.identify; a part of the "
            "record will do."
        )

    def content(self, subject: Subject) -> dict[str, Any]:
        """The table, and pictures where the records are at hand."""
        estimate = subject.estimate
        rows = []
        if estimate.output == "torque":
            rows.append(
                (
                    "fit",
                    share(estimate.residual),
                    [share(each) for each in estimate.residual_by_joint],
                    "",
                )
            )
        for tried in estimate.validation:
            cells = [share(each) for each in tried.residual_by_joint]
            rows.append(
                (tried.experiment or "held-out record", share(tried.residual), cells, tried.message)
            )
        return {"rows": rows, "joints": subject.joints, "records": self._records(subject)}

    def _records(self, subject: Subject) -> list[Any]:
        return [
            (each, torque_figures(subject, each, f"held out {k}"))
            for k, each in enumerate(subject.tried)
        ]
