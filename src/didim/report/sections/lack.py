"""What the model or its loop lacks: the suspects of the score tests, with a picture and a table."""

from __future__ import annotations

from typing import Any

from didim.report.data import ReportData
from didim.report.figures import Bars
from didim.report.sections.section import Section
from didim.report.suspects import AXIS, QUESTION, kinds_of, p_text, shown_suspects
from didim.results.formatting import number
from didim.results.lack_of_fit import LackOfFit, Remedy
from didim.results.table import lack_note


class Lack(Section):
    """One sentence, the shares as bars, and the first suspects as a table."""

    anchor, title = "lack", "What the model lacks"

    def absent(self, data: ReportData) -> str:
        """Why nothing was tested."""
        lack = data.estimate.lack
        if lack.reason:
            return f"Not tested: {lack.reason}."
        return "" if lack.rows else "Nothing to test: the records see no suspect."

    def content(self, data: ReportData) -> dict[str, Any]:
        """Sentence, picture and rows."""
        lack = data.estimate.lack
        rows = shown_suspects(lack)
        return {
            "sentence": lack_note(data.estimate) or _quiet(lack),
            "picture": _picture(lack),
            "rows": [
                (
                    row.found,
                    row.label,
                    number(row.value),
                    number(row.sigma),
                    row.unit,
                    f"{row.p_value:.2g}",
                    f"{100 * row.share:.3g}",
                    row.setting,
                )
                for row in rows
            ],
            "further": len(lack.rows) - len(rows),
            "shifted": any(row.remedy is Remedy.TIME_SHIFT and not row.found for row in rows),
            "level": f"{100 * lack.level:.3g}",
        }


def _quiet(lack: LackOfFit) -> str:
    """That nothing is named."""
    return (
        f"The tests are quiet: none of {len(lack.rows)} suspects is sure at the level of "
        f"{100 * lack.level:.3g} %{_of_part(lack)}."
    )


def _of_part(lack: LackOfFit) -> str:
    """How much was tested, where it is not all."""
    return "" if lack.part == 1.0 else f", on {100 * lack.part:.2g} % of the records"


def _picture(lack: LackOfFit) -> Bars:
    rows = shown_suspects(lack)
    most = max(rows, key=lambda row: row.share)
    kinds = kinds_of(lack)
    return Bars(
        QUESTION,
        f"{most.label} would remove {100 * most.share:.3g} % of it, {p_text(most)}.",
        AXIS,
        tuple(row.label for row in rows),
        tuple(100 * row.share for row in rows),
        tuple(kind.color for kind in kinds),
        tuple(p_text(row) for row in rows),
        tuple((kind.text, kind.color) for kind in dict.fromkeys(kinds)),
    )
