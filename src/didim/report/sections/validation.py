"""Held-out records, beside the prediction of the model."""

from __future__ import annotations

from typing import Any

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.report.sections.torques import torque_figures
from didim.results.formatting import fraction


class HeldOut(Section):
    """Residuals of each held-out record, by joint, and its torques."""

    anchor, title = "validation", "Does it predict other records?"

    def absent(self, data: ReportData) -> str:
        """Nothing was held out."""
        if data.estimate.validation:
            return ""
        return (
            'No record was held out. Give one: use = "validate" in the study, or validation= in '
            "didim.identify; a part of the "
            "record will do."
        )

    def content(self, data: ReportData) -> dict[str, Any]:
        """The table, and pictures where the records are given."""
        estimate = data.estimate
        rows = []
        if estimate.output == "torque":
            rows.append(
                (
                    "fit",
                    fraction(estimate.residual),
                    [fraction(each) for each in estimate.residual_by_joint],
                    "",
                )
            )
        for tried in estimate.validation:
            cells = [fraction(each) for each in tried.residual_by_joint]
            rows.append(
                (
                    tried.experiment or "held-out record",
                    fraction(tried.residual),
                    cells,
                    tried.message,
                )
            )
        return {"rows": rows, "joints": data.joints, "records": self._records(data)}

    def _records(self, data: ReportData) -> list[Any]:
        return [
            (each, torque_figures(data, each, f"held out {k}")) for k, each in enumerate(data.tried)
        ]
