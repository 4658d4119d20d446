"""Which parameters are poorly identified separately: the correlation of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.curves import correlation, strongest
from didim.report.data import ReportData
from didim.report.figures import Map
from didim.report.sections.section import Section


class Correlations(Section):
    """The map of all pairs, and a table of the strongest."""

    anchor, title = "correlation", "Which parameters are correlated?"

    def absent(self, data: ReportData) -> str:
        """A correlation needs two parameters."""
        sigma = data.estimate.corrected_sigma
        return (
            ""
            if np.sum(np.isfinite(sigma) & (sigma > 0)) > 1
            else "Fewer than two parameters have a known uncertainty."
        )

    def content(self, data: ReportData) -> dict[str, Any]:
        """The map and the table."""
        pairs = strongest(data.estimate)
        picture = Map(
            "How are their errors correlated?",
            _answer(pairs),
            data.estimate.names,
            correlation(data.estimate),
        )
        return {
            "picture": picture,
            "pairs": [(one, other, f"{value:+.3f}") for one, other, value in pairs],
        }


def _answer(pairs: list[tuple[str, str, float]]) -> str:
    """The strongest pair in a sentence."""
    if not pairs:
        return "No two are correlated."
    one, other, value = pairs[0]
    known = (
        ": their sum or difference is identified better than each of them"
        if abs(value) > 0.9
        else ""
    )
    return f"The strongest correlation is {value:.2f}, of {one} and {other}{known}."
