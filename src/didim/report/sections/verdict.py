"""The first screen: what was identified, and whether it may be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.data import Subject
from didim.report.sections.section import Section
from didim.results.formatting import joint_label, share
from didim.results.history import steps_told
from didim.results.judgement import weak_parameters
from didim.results.table import all_notes


class Verdict(Section):
    """The answer, what it rests on, and what a reader should know."""

    anchor, title = "verdict", "May it be used?"

    def content(self, subject: Subject) -> dict[str, Any]:
        """Judgement, key figures and notes."""
        estimate = subject.estimate
        notes = all_notes(estimate)
        if not subject.are_those_of_the_fit():
            notes.insert(
                0, "The records of this report are not those that the parameters were fitted to."
            )
        return {"judged": subject.judgement, "tiles": _tiles(subject), "notes": notes}


def _unfiltered(subject: Subject) -> list[tuple[str, str, str]]:
    """What is left of the worst joint where nothing is filtered, over all records of the fit."""
    curves = [each.torques for each in subject.fitted if each.torques is not None]
    if not curves:
        return []
    left = sum(np.sum((each.measured - each.estimated) ** 2, axis=0) for each in curves)
    size = sum(np.sum(each.measured**2, axis=0) for each in curves)
    shares = np.sqrt(left / np.where(size > 0, size, 1.0))
    j = int(np.argmax(shares))
    return [
        (
            share(float(shares[j])),
            "left before filtering",
            f"{joint_label(subject.estimate.model, j)}, noise and ripple included",
        )
    ]


def _tiles(subject: Subject) -> list[tuple[str, str, str]]:
    """Figure, what it is, and a remark."""
    estimate = subject.estimate
    tiles = [
        (
            str(estimate.status),
            "status",
            f"after {steps_told(estimate.history)}" if estimate.history else "",
        )
    ]
    unit = "of the position" if estimate.output == "position" else "of the filtered torque"
    tiles.append((share(estimate.residual), "left by the fit", unit))
    tiles += _unfiltered(subject)
    if estimate.validation:
        worst = max(estimate.validation, key=lambda each: each.residual)
        tiles.append((share(worst.residual), "left of a held-out torque", worst.experiment))
    else:
        tiles.append(("none", "held-out record", "hold one out to know more"))
    weak = len(weak_parameters(estimate))
    known = f"{len(estimate.names) - weak} of {len(estimate.names)}"
    tiles.append((known, "parameters are significant", "sigma below 30 %, zero outside"))
    data = subject.experiments
    if data:
        seconds = sum(float(np.ptp(np.asarray(each.t))) for each in data)
        many = f"{len(data)} records" if len(data) > 1 else "1 record"
        tiles.append((f"{seconds:.4g} s", "of motion", f"{many}, {estimate.rows} equations"))
    return tiles
