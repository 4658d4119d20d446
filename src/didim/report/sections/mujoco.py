"""The identified robot in MuJoCo, beside didim's own simulation; where MuJoCo is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from didim.export.beside_mujoco import BesideMujoco
from didim.report.data import ReportData
from didim.report.figures import Figure, Series, points_per_curve, thinned
from didim.report.sections.section import Section, color
from didim.report.sections.torques import UNSAVED
from didim.results.formatting import number

MANY = 20
"""Curves between which the points of the picture are shared, at least."""


class InMujoco(Section):
    """The difference of positions of both simulations, over time."""

    anchor, title = "mujoco", "Does MuJoCo move like this model?"

    def applies(self, data: ReportData) -> bool:
        """Where MuJoCo is installed."""
        del data
        return find_spec("mujoco") is not None

    def absent(self, data: ReportData) -> str:
        """Why MuJoCo was not stepped."""
        if not data.experiments:
            return UNSAVED
        found = data.beside_mujoco
        return found if isinstance(found, str) else ""

    def content(self, data: ReportData) -> dict[str, Any]:
        """The picture, and a table of the errors."""
        found = data.beside_mujoco
        assert isinstance(found, BesideMujoco)
        rows = [("difference of the simulations", [number(x) for x in found.difference])]
        if found.errors is not None:
            one, other = found.errors
            rows += [
                ("didim against the record", [number(x) for x in one]),
                ("MuJoCo against the record", [number(x) for x in other]),
            ]
        return {"figure": _figure(found), "rows": rows, "joints": found.joints}


def _figure(found: BesideMujoco) -> Figure:
    t, curves = thinned(
        found.t, found.mujoco - found.didim, points_per_curve(MANY * len(found.joints))
    )
    largest = max(range(len(found.joints)), key=lambda j: found.difference[j])
    return Figure(
        "How far is MuJoCo from didim's simulation?",
        f"At most {number(float(found.difference[largest]))} in root mean square, at "
        f"{found.joints[largest]}.",
        "time, s",
        "MuJoCo minus didim, rad or m",
        tuple(Series(name, color(j), t, curves[:, j]) for j, name in enumerate(found.joints)),
    )
