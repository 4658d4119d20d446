"""What the residuals look like: their distribution, and how long they last."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.curves import autocorrelation, histogram, normalised_residuals
from didim.report.data import Subject
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.report.sections.torques import UNSAVED
from didim.results.formatting import joint_label
from didim.results.prediction import ComparedRows


class Residuals(Section):
    """Histogram and autocorrelation by joint, on the rows of the fit."""

    anchor, title = "residuals", "Is what is left only noise?"

    def absent(self, subject: Subject) -> str:
        """Without records there is nothing to show."""
        if not subject.experiments:
            return UNSAVED
        return (
            ""
            if _rows(subject)
            else "No record of the fit could be predicted, so that nothing can be compared."
        )

    def content(self, subject: Subject) -> dict[str, Any]:
        """Two pictures for each joint."""
        rows = _rows(subject)
        return {
            "pairs": [
                (_histogram(subject, rows, j), _lasting(subject, rows, j))
                for j in range(subject.estimate.model.robot.n)
            ]
        }


def _rows(subject: Subject) -> list[ComparedRows]:
    return [each.rows for each in subject.fitted if each.rows is not None and each.rows.used.any()]


def _histogram(subject: Subject, rows: list[ComparedRows], j: int) -> Figure:
    left = normalised_residuals(rows, j)
    found = histogram(left)
    beyond = float(np.mean(np.abs(left) > 3)) if left.size else 0.0
    return Figure(
        f"Are the residuals of {joint_label(subject.estimate.model, j)} normal?",
        f"{left.size} rows; {100 * beyond:.2g} % lie beyond 3 times their rms, where 0.27 % of "
        "normal noise would.",
        "residual over its root mean square",
        "density",
        (
            Series("residuals", color(0), found.middles, found.density, "bars"),
            Series("normal distribution", color(1), found.fine, found.normal),
        ),
    )


def _lasting(subject: Subject, rows: list[ComparedRows], j: int) -> Figure:
    found, band = autocorrelation(rows, j)
    outside = np.flatnonzero(np.abs(found[1:]) > band).size
    step = rows[0].step
    told = (
        f"{outside} of {found.size - 1} lags lie outside the band that white noise stays in 95 % "
        "of the time."
    )
    if outside > 0.15 * (found.size - 1):
        told += (
            " The residuals last: the model lacks something, or the loop differs; the intervals "
            "are widened for it."
        )
    return Figure(
        f"How long do the residuals of {joint_label(subject.estimate.model, j)} last?",
        told,
        "lag, s",
        "autocorrelation",
        (Series("residuals", color(0), step * np.arange(found.size), found, "bars"),),
        lines=(band, -band),
    )
