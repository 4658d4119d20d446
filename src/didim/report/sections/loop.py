"""The control loop that was simulated: law, gains by joint, what was assumed of it."""

from __future__ import annotations

from typing import Any

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.results.doubts import assumed_loop
from didim.results.formatting import number


class Loop(Section):
    """The final loop."""

    anchor, title = "loop", "In which control loop?"

    def absent(self, data: ReportData) -> str:
        """Methods that simulate nothing need no loop."""
        estimate = data.estimate
        if estimate.controller is not None:
            return ""
        kept = (
            estimate.preprocessing.states == "simulated"
            and "A law of your own is not kept in a saved estimate."
        )
        return kept or f"{estimate.method} simulates no loop here."

    def content(self, data: ReportData) -> dict[str, Any]:
        """Law and gains."""
        estimate = data.estimate
        last = estimate.history[-1].gains if estimate.history else {}
        shown = {
            name: [number(float(value)) for value in gain]
            for name, gain in last.items()
            if gain.any()
        }
        return {
            "law": repr(estimate.controller),
            "gains": shown,
            "joints": data.joints,
            "assumed": assumed_loop(estimate),
            "estimated": bool(estimate.gains),
        }
