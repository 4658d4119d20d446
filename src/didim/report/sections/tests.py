"""The tests of the fit: filtered positions, instruments, and the residual of each joint."""

from __future__ import annotations

from typing import Any

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.results.hypothesis import TEST_LEVEL


class Tests(Section):
    """One row for each test."""

    anchor, title = "tests", "Do the assumptions hold?"

    def absent(self, data: ReportData) -> str:
        """An estimate without tests."""
        return "" if data.estimate.tests else "Not tested: the tests were not made."

    def content(self, data: ReportData) -> dict[str, Any]:
        """The rows: whether it is rejected, name, statistic, p-value, meaning."""
        return {
            "level": f"{100 * TEST_LEVEL:.3g}",
            "rows": [
                (
                    each.rejects,
                    name.replace("_", " "),
                    "" if each.statistic is None else f"{each.statistic:.3g}",
                    "" if each.p_value is None else f"{each.p_value:.2g}",
                    each.meaning,
                )
                for name, each in data.estimate.tests.items()
            ],
        }
