"""Which parameters can hardly be told apart: the correlation of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.curves import correlation, strongest
from didim.report.data import Subject
from didim.report.figures import Map
from didim.report.sections.section import Section


class Correlations(Section):
    """The map of all pairs, and a table of the strongest."""

    anchor, title = "correlation", "Which parameters trade against each other?"

    def absent(self, subject: Subject) -> str:
        """One parameter has nothing to be correlated with."""
        sigma = subject.estimate.corrected_sigma
        return (
            ""
            if np.sum(np.isfinite(sigma) & (sigma > 0)) > 1
            else "Fewer than two parameters have a known uncertainty."
        )

    def content(self, subject: Subject) -> dict[str, Any]:
        """The map and the table."""
        pairs = strongest(subject.estimate)
        picture = Map(
            "How do their errors go together?",
            _told(pairs),
            subject.estimate.names,
            correlation(subject.estimate),
        )
        return {
            "picture": picture,
            "pairs": [(one, other, f"{value:+.3f}") for one, other, value in pairs],
        }


def _told(pairs: list[tuple[str, str, float]]) -> str:
    """The strongest pair in a sentence."""
    if not pairs:
        return "No two are correlated."
    one, other, value = pairs[0]
    known = (
        ": their sum or difference is known better than each of them" if abs(value) > 0.9 else ""
    )
    return f"The strongest correlation is {value:.2f}, of {one} and {other}{known}."
