"""What the robot carries: a table, and the load's torque beside what the empty robot leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.payload.result import Payload
from didim.payload.table import headline, rows_of
from didim.report.data import ReportData, Shown
from didim.report.figures import Figure, Series, points_per_curve, thinned
from didim.report.sections.section import Section
from didim.results.formatting import fraction, joint_label, number, torque_unit, torque_word


class Carried(Section):
    """Mass, centre and inertia, and a picture for each record."""

    anchor, title = "payload", "What does the robot carry?"

    def applies(self, data: ReportData) -> bool:
        """Only where a load was identified."""
        return data.payload is not None

    def content(self, data: ReportData) -> dict[str, Any]:
        """The table, the notes and the pictures."""
        payload = data.payload
        assert payload is not None
        rows = [
            (name, number(value), number(2 * sigma) if np.isfinite(sigma) else "not known", unit)
            for name, unit, value, sigma in rows_of(payload)
        ]
        figures = [_torque(data, payload, each) for each in data.fitted if each.rows is not None]
        answer = headline(payload)
        return {"answer": answer, "rows": rows, "payload": payload, "figures": figures}


def _torque(data: ReportData, payload: Payload, shown: Shown) -> Figure:
    """The joint that the load acts on most: what the empty robot leaves, and the load's torque."""
    rows, model = shown.rows, data.estimate.model
    assert rows is not None
    motion, phi = rows.motion, np.zeros(len(model.full.parameter_names))
    phi[model.layout.link[payload.link]] = payload.parameters
    states = motion.q, motion.dq, motion.ddq, phi, motion.slip, model.no_signals(len(motion.q))
    load = model.full.inverse_dynamics(*states)
    size = np.sqrt(np.mean(load**2, axis=0))
    noise = np.sqrt(np.mean((rows.y - rows.found) ** 2, axis=0))
    j = int(np.argmax(size / np.where(noise > 0, noise, 1.0)))
    without = (rows.y - rows.found + load)[:, j]
    t = np.asarray(rows.step * np.arange(len(without)), dtype=np.float64)
    t, curves = thinned(t, np.column_stack([without, load[:, j]]), points_per_curve(2))
    total = float(np.linalg.norm(rows.y[:, j]))
    left = float(np.linalg.norm((rows.y - rows.found)[:, j])) / total
    before = float(np.linalg.norm(without)) / total
    return Figure(
        "Does the load explain what the empty robot leaves?",
        f"{shown.name}, {joint_label(model, j)}: the empty robot leaves {fraction(before)} of the "
        f"{torque_word(model, j)}, with the load {fraction(left)} is left.",
        "time, s",
        f"{torque_word(model, j)}, {torque_unit(model, j)}",
        (
            Series("left by the empty robot", "measured", t, curves[:, 0]),
            Series("of the load", "estimated", t, curves[:, 1]),
        ),
    )
