"""How far the simulated motion is from the measured one and from the reference, over the iterations
(Fig. 11).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.data import ReportData
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.results.formatting import fraction, joint_label

_SIGNALS = {"q": "position", "dq": "velocity", "ddq": "acceleration"}
_OTHERS = {"to_measured": "to the measured motion", "to_reference": "to the reference"}


class Distances(Section):
    """One picture for each joint: positions, velocities and accelerations."""

    anchor, title = "distances", "Does the simulated robot move like the real one?"

    def absent(self, data: ReportData) -> str:
        """Only methods that simulate have a simulated motion."""
        history = data.estimate.history
        if any(step.to_measured or step.to_reference for step in history):
            return ""
        return (
            f"{data.estimate.method} {'kept no distances' if history else 'simulates no motion'}."
        )

    def content(self, data: ReportData) -> dict[str, Any]:
        """Pictures by joint."""
        return {"figures": [_distance(data, j) for j in range(data.estimate.model.robot.n)]}


def _distance(data: ReportData, j: int) -> Figure:
    series, answers = [], []
    for other, label in _OTHERS.items():
        steps = [
            (k, getattr(step, other))
            for k, step in enumerate(data.estimate.history)
            if getattr(step, other)
        ]
        for i, (signal, word) in enumerate(_SIGNALS.items()):
            distances = np.array([getattr(distance, signal)[j] for _, distance in steps])
            if not distances.size:
                continue
            style = "marks" if other == "to_measured" else "dashed"
            series.append(
                Series(f"{word}, {label}", color(i), [k for k, _ in steps], 100 * distances, style)
            )
            if signal == "q":
                answers.append(f"{fraction(float(distances[-1]))} {label}")
    return Figure(
        f"How far is the simulated motion of {joint_label(data.estimate.model, j)}?",
        f"At the end the position is {' and '.join(answers)} away.",
        "iteration",
        "distance, % of the motion",
        tuple(series),
        scale="log",
        whole=True,
    )
