"""The parameter table: value, unit, interval and what each base parameter regroups (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from didim.report.data import ReportData
from didim.report.sections.section import Section
from didim.results.doubts import weak_parameters
from didim.results.estimate import Estimate
from didim.results.formatting import number, percent


@dataclass(frozen=True)
class Row:
    """One line of the table, as it is shown."""

    name: str
    value: str
    unit: str
    low: str
    high: str
    sigma: str
    """Relative, percent, (19)."""
    formula: str
    """What a base parameter regroups; empty where it is a standard parameter alone."""
    weak: bool
    border: bool
    """Whether the border of the physically consistent set moved it: the interval does not hold."""
    fixed: bool
    """Whether its value was given."""
    bar: tuple[float, float] | None
    """Low and high on a scale from 0 to 100 over twice the value; None where the interval is
    wider.
    """


class Parameters(Section):
    """Every parameter with its interval, then the shapes and gains that were estimated."""

    anchor, title = "parameters", "Parameters"

    def content(self, data: ReportData) -> dict[str, Any]:
        """Rows of the tables."""
        estimate = data.estimate
        return {
            "rows": parameter_rows(estimate),
            "shapes": further_rows(estimate.shapes, shape_units(estimate)),
            "held": _held_shapes(estimate),
            "gains": further_rows(estimate.gains, {}),
            "eliminated": estimate.eliminated,
        }


def parameter_rows(estimate: Estimate) -> list[Row]:
    """One row for each parameter."""
    units, formulas, weak = (
        {each.name: each.unit for each in estimate.model.parameters},
        estimate.model.formulas,
        set(weak_parameters(estimate)),
    )
    rows = []
    for name, value, (low, high), relative in zip(
        estimate.names, estimate.values, estimate.interval(), estimate.relative_sigma, strict=True
    ):
        formula = formulas.get(name, name)
        rows.append(
            Row(
                name,
                number(value),
                units[name],
                number(low),
                number(high),
                percent(relative),
                "" if formula == name else formula,
                name in weak,
                name in estimate.at_border,
                name in estimate.fixed,
                _bar(float(value), float(low), float(high)),
            )
        )
    return rows


def _bar(value: float, low: float, high: float) -> tuple[float, float] | None:
    """Where the interval lies between zero and twice the value, in percent."""
    if (
        not np.isfinite([value, low, high]).all()
        or value == 0
        or not abs(high - low) <= 2 * abs(value)
    ):
        return None
    start, end = sorted((50 * low / value, 50 * high / value))
    return float(start), float(end)


def shape_units(estimate: Estimate) -> dict[str, str]:
    """Units of the parameters that the torque is not linear in."""
    return {shape.name: shape.unit for shape in estimate.model.layout.terms.shapes}


def _held_shapes(estimate: Estimate) -> list[str]:
    """Shapes that were not estimated, with their values."""
    return [
        f"{name} = {number(value)} {shape_units(estimate)[name]}".rstrip()
        for name, value in estimate.model.full.shape_values.items()
        if name not in estimate.shapes
    ]


def further_rows(
    pairs: Mapping[str, tuple[float, float]], units: Mapping[str, str]
) -> list[tuple[str, str, str, str, str]]:
    """Name, value, unit, two sigma and relative sigma of shapes or gains."""
    rows = []
    for name, (value, sigma) in pairs.items():
        rows.append(
            (
                name,
                number(value),
                "s" if name == "delay" else units.get(name, ""),
                number(2 * sigma),
                percent(100 * sigma / abs(value) if value else np.inf),
            )
        )
    return rows
