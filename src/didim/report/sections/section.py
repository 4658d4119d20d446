"""`Section`: one part of the report. Its template in `templates/` has the name of its anchor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from didim.report.data import ReportData

COLORS = 8
"""Colours of the style sheet, c0 to c7."""


class Section(ABC):
    """One part of the report."""

    anchor: ClassVar[str]
    """Its anchor in the page, and the name of its template."""
    title: ClassVar[str]

    @abstractmethod
    def content(self, data: ReportData) -> dict[str, Any]:
        """What the template shows."""

    def applies(self, data: ReportData) -> bool:
        """Whether the page has it; one that could have been there says why it is absent."""
        del data
        return True

    def absent(self, data: ReportData) -> str:
        """Why it does not apply, in a line; empty where it does."""
        del data
        return ""


def color(k: int) -> str:
    """The classes of the k-th of several curves: colours repeat, dashed."""
    return f"c{k % COLORS} again" if k >= COLORS else f"c{k}"
