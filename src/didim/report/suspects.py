"""The picture of the suspects: what each would remove of the squared residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from didim.errors import InputError
from didim.report.pictures import ESTIMATED, RESIDUAL, new_axes
from didim.results.estimate import Estimate
from didim.results.lack_of_fit import LackOfFit, LackRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SHOWN = 12
"""Suspects that pictures and tables show: those that are named come first."""

QUESTION = "What would remove most of the residual?"
AXIS = "share of the squared residual, %"


@dataclass(frozen=True)
class Kind:
    """How sure a suspect is."""

    text: str
    color: str
    """Of the style sheet."""
    ink: str
    """Of matplotlib."""


NAMED = Kind("named", "c1", RESIDUAL)
EXPLAINED = Kind("sure by itself, not beside what is named", "c4", "tab:olive")
UNSURE = Kind("not sure", "c0", ESTIMATED)


def kind_of(row: LackRow, level: float) -> Kind:
    """Whether a suspect is named, is explained by what is named, or is not sure."""
    if row.found:
        return NAMED
    return EXPLAINED if row.p_value < level else UNSURE


def kinds_of(lack: LackOfFit) -> list[Kind]:
    """Of the suspects that are shown."""
    return [kind_of(row, lack.level) for row in shown_suspects(lack)]


def shown_suspects(lack: LackOfFit) -> tuple[LackRow, ...]:
    """The first suspects."""
    return lack.rows[:MOST_SHOWN]


def p_text(row: LackRow) -> str:
    """Its p-value."""
    return f"p = {row.p_value:.2g}" if row.p_value >= 1e-99 else "p < 1e-99"


def lack_of_fit(estimate: Estimate, axes: Axes | None = None) -> Axes:
    """The first suspects of `Estimate.lack` against the share of the squared residual that each
    would remove, with their p-values.
    """
    rows = shown_suspects(estimate.lack)
    if not rows:
        why = estimate.lack.reason or "there is nothing to test"
        raise InputError(f"There is no suspect to draw: {why}.")
    axes = new_axes(size=(8.0, 1.2 + 0.27 * len(rows)))[0, 0] if axes is None else axes
    shares = 100.0 * np.array([row.share for row in rows])
    places = np.arange(len(rows))
    kinds = kinds_of(estimate.lack)
    for kind in dict.fromkeys(kinds):
        own = np.array([each is kind for each in kinds])
        axes.barh(places[own], shares[own], 0.65, color=kind.ink, label=kind.text)
    for place, share, row in zip(places, shares, rows, strict=True):
        axes.annotate(
            p_text(row), (share, place), (4, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.set_yticks(places, [row.label for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.2 * float(shares.max()) or 1.0)
    axes.set_title(QUESTION, loc="left", fontsize=10)
    axes.set_xlabel(AXIS)
    axes.grid(alpha=0.3, axis="x")
    axes.legend(fontsize=8, loc="lower right")
    return axes
