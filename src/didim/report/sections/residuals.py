"""Distribution and autocorrelation of the residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.curves import autocorrelation, histogram, normalised_residuals
from didim.report.data import ReportData
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.report.sections.torques import UNSAVED
from didim.results.formatting import joint_label
from didim.results.validation import ComparedRows


class Residuals(Section):
    """Histogram and autocorrelation by joint, on the rows of the fit."""

    anchor, title = "residuals", "Are the residuals only noise?"

    def absent(self, data: ReportData) -> str:
        """Without records there is nothing to show."""
        if not data.experiments:
            return UNSAVED
        return (
            ""
            if _rows(data)
            else "No record of the fit could be predicted: there are no residuals."
        )

    def content(self, data: ReportData) -> dict[str, Any]:
        """Two pictures for each joint."""
        rows = _rows(data)
        return {
            "pairs": [
                (_histogram(data, rows, j), _autocorrelation(data, rows, j))
                for j in range(data.estimate.model.robot.n)
            ]
        }


def _rows(data: ReportData) -> list[ComparedRows]:
    return [each.rows for each in data.fitted if each.rows is not None and each.rows.used.any()]


def _histogram(data: ReportData, rows: list[ComparedRows], j: int) -> Figure:
    residual = normalised_residuals(rows, j)
    found = histogram(residual)
    beyond = float(np.mean(np.abs(residual) > 3)) if residual.size else 0.0
    return Figure(
        f"Are the residuals of {joint_label(data.estimate.model, j)} normal?",
        f"{residual.size} rows; {100 * beyond:.2g} % lie beyond 3 times their rms, where 0.27 % of "
        "normal noise would.",
        "residual over its root mean square",
        "density",
        (
            Series("residuals", color(0), found.middles, found.density, "bars"),
            Series("normal distribution", color(1), found.fine, found.normal),
        ),
    )


def _autocorrelation(data: ReportData, rows: list[ComparedRows], j: int) -> Figure:
    found, band = autocorrelation(rows, j)
    outside = np.flatnonzero(np.abs(found[1:]) > band).size
    step = rows[0].step
    answer = (
        f"{outside} of {found.size - 1} lags lie outside the band that white noise stays in 95 % "
        "of the time."
    )
    if outside > 0.15 * (found.size - 1):
        answer += (
            " The residuals are correlated: the model is incomplete, or the loop differs; the "
            "intervals are widened accordingly."
        )
    return Figure(
        f"Are the residuals of {joint_label(data.estimate.model, j)} correlated in time?",
        answer,
        "lag, s",
        "autocorrelation",
        (Series("residuals", color(0), step * np.arange(found.size), found, "bars"),),
        lines=(band, -band),
    )
