"""Held-out records, beside the prediction of the model."""

from __future__ import annotations

from typing import Any

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.report.sections.torques import torque_figures
from didim.results.estimate import Estimate
from didim.results.formatting import fraction
from didim.results.validation import AlongMotion, Validation


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
            rows.append(_row("fit", estimate))
            rows += [
                _row(f"fit, {each.experiment}, all rows that move", each, remark=_rest(each))
                for each in estimate.fitted
            ]
            rows += [
                _row(f"fit, {each.experiment}, along its measured motion", each)
                for each in estimate.along_motion
            ]
        for tried in estimate.validation:
            name = tried.experiment or "held-out record"
            rows.append(_row(name, tried, tried.message, _rest(tried)))
            if tried.along_motion is not None:
                rows.append(_row(f"{name}, along its measured motion", tried.along_motion))
        return {"rows": rows, "joints": data.joints, "records": self._records(data)}

    def _records(self, data: ReportData) -> list[Any]:
        return [
            (each, torque_figures(data, each, f"held out {k}")) for k, each in enumerate(data.tried)
        ]


def _rest(tried: Validation) -> str:
    """What `rest_velocity` would leave out, below the name of a record."""
    return tried.rows_left_out.removeprefix("; ")


def _row(
    name: str, found: Estimate | Validation | AlongMotion, message: str = "", remark: str = ""
) -> tuple[str, str, list[str], str, str]:
    """Name, residual in all and by joint, why there is none, and a remark on the rows."""
    by_joint = [fraction(each) for each in found.residual_by_joint]
    return name, fraction(found.residual), by_joint, message, remark
