"""The first screen: what was identified, and whether it may be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.sections.section import Section
from didim.report.subject import Subject
from didim.results.judgement import weak_parameters
from didim.results.table import all_notes
from didim.results.words import share


class Verdict(Section):
    """The answer, what it rests on, and what a reader should know."""

    anchor, title = "verdict", "May it be used?"

    def content(self, subject: Subject) -> dict[str, Any]:
        """Judgement, key figures and notes."""
        estimate = subject.estimate
        notes = all_notes(estimate)
        if not subject.are_those_of_the_fit():
            notes.insert(0, "The records of this report are not those that the parameters were fitted to.")
        return {"judged": subject.judgement, "tiles": _tiles(subject), "notes": notes}


def _tiles(subject: Subject) -> list[tuple[str, str, str]]:
    """Figure, what it is, and a remark."""
    estimate = subject.estimate
    steps = f"after {estimate.iterations} iteration{'s'[: estimate.iterations != 1]}" if estimate.history else ""
    tiles = [(estimate.status, "status", steps)]
    unit = "of the position" if estimate.output == "position" else "of the torque"
    tiles.append((share(estimate.residual), "left by the fit", unit))
    if estimate.validation:
        worst = max(estimate.validation, key=lambda each: each.residual)
        tiles.append((share(worst.residual), "left of a held-out torque", worst.experiment))
    else:
        tiles.append(("none", "held-out record", "hold one out to know more"))
    weak = len(weak_parameters(estimate))
    known = f"{len(estimate.names) - weak} of {len(estimate.names)}"
    tiles.append((known, "parameters are significant", "relative sigma below 30 %"))
    data = subject.experiments
    if data:
        seconds = sum(float(np.ptp(np.asarray(each.t))) for each in data)
        many = f"{len(data)} records" if len(data) > 1 else "1 record"
        tiles.append((f"{seconds:.4g} s", "of motion", f"{many}, {estimate.rows} equations"))
    return tiles
