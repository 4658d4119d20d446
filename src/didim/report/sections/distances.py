"""How far the simulated motion is from the measured one and from the reference, over the iterations
(Fig. 11).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.data import Subject
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section, color
from didim.results.formatting import joint_label, share

_SIGNALS = {"q": "position", "dq": "velocity", "ddq": "acceleration"}
_OTHERS = {"to_measured": "to the measured motion", "to_reference": "to the reference"}


class Distances(Section):
    """One picture for each joint: positions, velocities and accelerations."""

    anchor, title = "distances", "Does the simulated robot move like the real one?"

    def absent(self, subject: Subject) -> str:
        """Only methods that simulate have a simulated motion."""
        history = subject.estimate.history
        if any(step.to_measured or step.to_reference for step in history):
            return ""
        return (
            f"{subject.estimate.method} "
            f"{'kept no distances' if history else 'simulates no motion'}."
        )

    def content(self, subject: Subject) -> dict[str, Any]:
        """Pictures by joint."""
        return {"figures": [_distance(subject, j) for j in range(subject.estimate.model.robot.n)]}


def _distance(subject: Subject, j: int) -> Figure:
    series, told = [], []
    for other, label in _OTHERS.items():
        steps = [
            (k, getattr(step, other))
            for k, step in enumerate(subject.estimate.history)
            if getattr(step, other)
        ]
        for i, (signal, word) in enumerate(_SIGNALS.items()):
            shares = np.array([getattr(distance, signal)[j] for _, distance in steps])
            if not shares.size:
                continue
            style = "marks" if other == "to_measured" else "dashed"
            series.append(
                Series(f"{word}, {label}", color(i), [k for k, _ in steps], 100 * shares, style)
            )
            if signal == "q":
                told.append(f"{share(float(shares[-1]))} {label}")
    return Figure(
        f"How far is the simulated motion of {joint_label(subject.estimate.model, j)}?",
        f"At the end the position is {' and '.join(told)} away.",
        "iteration",
        "distance, % of the motion",
        tuple(series),
        scale="log",
        whole=True,
    )
