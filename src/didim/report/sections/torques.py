"""Measured, estimated and residual torque by joint, over time (Fig. 10): of the records of the
fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.report.data import ReportData, Shown
from didim.report.figures import Figure, Series, points_per_curve, thinned
from didim.report.sections.section import Section
from didim.results.formatting import fraction, joint_label, torque_unit, torque_word

UNSAVED = (
    "The records are not part of a saved estimate; give them: estimate.report(path, "
    "experiments=[...])."
)

LATE_START = 1000.0
"""s: a record that begins later is shown from its own start."""


class Torques(Section):
    """Every record of the fit, joint by joint."""

    anchor, title = "torques", "Does the model explain the torque?"

    def absent(self, data: ReportData) -> str:
        """Without records there is nothing to show."""
        return "" if data.experiments else UNSAVED

    def content(self, data: ReportData) -> dict[str, Any]:
        """Pictures of each record."""
        return {
            "records": [
                (each, torque_figures(data, each, f"fit {k}")) for k, each in enumerate(data.fitted)
            ]
        }


def torque_figures(data: ReportData, shown: Shown, group: str) -> list[Figure]:
    """One picture for each joint; they zoom together."""
    if shown.torques is None:
        return []
    model, curves = data.estimate.model, shown.torques
    many = (len(data.experiments) + len(data.held_out)) * model.robot.n * 4
    begin = float(curves.t[0]) if abs(curves.t[0]) > LATE_START else 0.0
    time, figures = curves.t - begin, []
    for j in range(model.robot.n):
        measured, estimated = curves.measured[:, j], curves.estimated[:, j]
        columns = np.column_stack([measured, estimated, measured - estimated])
        t, few = thinned(time, columns, points_per_curve(many))
        word, unit = torque_word(model, j), torque_unit(model, j)
        figures.append(
            Figure(
                f"Does the model explain the {word} of {joint_label(model, j)}?",
                _answer(columns, time, unit)
                + (
                    ""
                    if t is time
                    else f" {t.size} of {time.size} samples are drawn, all peaks among them."
                ),
                "time, s" if begin == 0.0 else f"time, s, from {begin:.3f} s on",
                f"{word}, {unit}",
                tuple(
                    Series(name, name, t, few[:, k])
                    for k, name in enumerate(("measured", "estimated", "residual"))
                ),
                zoom=group,
            )
        )
    return figures


def _answer(columns: np.ndarray, t: np.ndarray, unit: str) -> str:
    """Size of the residual, and where it is largest."""
    measured, _, residual = columns.T
    size, rms = float(np.sqrt(np.mean(measured**2))), float(np.sqrt(np.mean(residual**2)))
    if not np.isfinite(rms):
        return "The prediction is not finite."
    k, of = int(np.argmax(np.abs(residual))), fraction(rms / size) if size > 0 else "all"
    return (
        f"Rms of the residual {rms:.3g} {unit}, {of} of the measured {size:.3g} {unit}, noise "
        "included; "
        f"at most {abs(residual[k]):.3g} {unit}, at {t[k]:.6g} s."
    )
