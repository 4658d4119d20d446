"""The first screen: what was identified, and whether it may be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.results.doubts import weak_parameters
from didim.results.formatting import fraction, joint_label
from didim.results.history import described_steps
from didim.results.table import all_notes


class Verdict(Section):
    """The verdict, its key figures, and the notes."""

    anchor, title = "verdict", "May it be used?"

    def content(self, data: ReportData) -> dict[str, Any]:
        """Judgement, key figures and notes."""
        estimate = data.estimate
        notes = all_notes(estimate)
        if not data.are_those_of_the_fit():
            notes.insert(
                0, "The records of this report are not those that the parameters were fitted to."
            )
        return {"judged": data.judgement, "tiles": _tiles(data), "notes": notes}


def _unfiltered(data: ReportData) -> list[tuple[str, str, str]]:
    """Residual of the worst joint without any filter, over all records of the fit."""
    curves = [each.torques for each in data.fitted if each.torques is not None]
    if not curves:
        return []
    residual = sum(np.sum((each.measured - each.estimated) ** 2, axis=0) for each in curves)
    size = sum(np.sum(each.measured**2, axis=0) for each in curves)
    fractions = np.sqrt(residual / np.where(size > 0, size, 1.0))
    j = int(np.argmax(fractions))
    return [
        (
            fraction(float(fractions[j])),
            "residual before filtering",
            f"{joint_label(data.estimate.model, j)}, noise and ripple included",
        )
    ]


def _tiles(data: ReportData) -> list[tuple[str, str, str]]:
    """Figure, what it is, and a remark."""
    estimate = data.estimate
    tiles = [
        (
            str(estimate.status),
            "status",
            f"after {described_steps(estimate.history)}" if estimate.history else "",
        )
    ]
    unit = "of the position" if estimate.output == "position" else "of the filtered torque"
    tiles.append((fraction(estimate.residual), "residual of the fit", unit))
    tiles += _unfiltered(data)
    if estimate.validation:
        worst = max(estimate.validation, key=lambda each: each.worst)
        tiles.append((fraction(worst.worst), "residual of a held-out record", worst.experiment))
    else:
        tiles.append(("none", "held-out record", "hold one out to validate"))
    weak = len(weak_parameters(estimate))
    count = len(estimate.names) - len(estimate.fixed)
    known = f"{count - weak} of {count}"
    tiles.append((known, "parameters are significant", "sigma below 30 %, zero outside"))
    records = data.experiments
    if records:
        seconds = sum(float(np.ptp(each.t)) for each in records)
        many = f"{len(records)} records" if len(records) > 1 else "1 record"
        tiles.append((f"{seconds:.4g} s", "of motion", f"{many}, {estimate.rows} equations"))
    return tiles
