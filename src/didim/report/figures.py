"""`Figure`: one picture of the HTML report as data, which `assets/plots.js` draws. Each answers one
question, its title.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

MAX_NUMBERS = 600_000
"""In all curves of a report: 3.2 MB of its file."""

MIN_POINTS = 1000
"""That a curve keeps in any case."""


_OWN_KEYS = ("dashed", "points", "band")
"""Styles that the legend shows as the picture does."""


@dataclass(frozen=True, eq=False)
class Series:
    """One curve."""

    name: str
    color: str
    """A class of the style sheet: "measured", "estimated", "residual", or "c0" to "c7"."""
    x: ArrayLike
    y: ArrayLike
    style: str = "line"
    """"line", "marks" (a line with points), "points" (without one), "bars", "dashed" or "band"."""
    upper: ArrayLike | None = None
    """Of a band: its upper end, where y is the lower one."""


@dataclass(frozen=True, eq=False)
class Figure:
    """One picture."""

    question: str
    """Its title."""
    answer: str
    """What it shows, in a sentence with figures: the text alternative."""
    x: str
    """What the axis shows, with its unit."""
    y: str
    series: tuple[Series, ...]
    scale: str = "linear"
    """Of y: "linear", "log" or "symlog"."""
    zoom: str = ""
    """Pictures with the same text zoom together; empty: they do not."""
    whole: bool = False
    """Whether x counts something."""
    legend: tuple[tuple[str, str], ...] = ()
    """Name and colour; empty: one for each series."""
    lines: tuple[float, ...] = ()
    """Horizontal lines, at these values of y."""

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Names and classes for the legend."""
        return self.legend or tuple(
            (s.name, f"{s.color} {s.style}" if s.style in _OWN_KEYS else s.color)
            for s in self.series
        )

    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "kind": "curves",
            "x": self.x,
            "y": self.y,
            "scale": self.scale,
            "zoom": self.zoom,
            "whole": self.whole,
            "lines": list(self.lines),
            "series": [
                {
                    "name": s.name,
                    "color": s.color,
                    "style": s.style,
                    "x": self._own_x(s),
                    "y": packed(s.y),
                    "upper": None if s.upper is None else packed(s.upper),
                }
                for s in self.series
            ],
        }

    def _own_x(self, series: Series) -> str | None:
        """The abscissae of a curve; None: those of the first."""
        first = self.series[0]
        return None if series is not first and series.x is first.x else packed(series.x)


@dataclass(frozen=True, eq=False)
class Map:
    """A square table of numbers from -1 to 1 as colours."""

    question: str
    answer: str
    names: tuple[str, ...]
    values: Array = field(repr=False)
    keys: tuple[tuple[str, str], ...] = (("+1", "c0"), ("-1", "c1"))

    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {"kind": "map", "names": list(self.names), "values": packed(self.values.ravel())}


@dataclass(frozen=True, eq=False)
class Bars:
    """Named numbers from zero on, as bars below each other."""

    question: str
    answer: str
    x: str
    """What the bars show, with its unit."""
    names: tuple[str, ...]
    values: tuple[float, ...]
    colors: tuple[str, ...]
    """Classes of the style sheet, "c0" to "c7"."""
    texts: tuple[str, ...]
    """At the end of each bar."""
    keys: tuple[tuple[str, str], ...] = ()

    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "kind": "bars",
            "x": self.x,
            "names": list(self.names),
            "values": packed(self.values),
            "colors": list(self.colors),
            "texts": list(self.texts),
        }


Picture = Figure | Map | Bars


def packed(values: ArrayLike) -> str:
    """Numbers as base64 of little-endian float32, which resolves seven digits."""
    with np.errstate(over="ignore"):
        return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def thinned(t: Array, curves: Array, most: int) -> tuple[Array, Array]:
    """Curves (K, m) over t (K,) with at most `most` points: of each stretch the samples in which a
    curve is least or largest.

    Every peak stays, and every point is a sample of all curves at its own time.
    """
    if t.size <= most:
        return t, curves
    m = curves.shape[1]
    width = -(-t.size // max(most // (2 * m), 1))
    short = -t.size % width
    parts = np.concatenate([curves, np.repeat(curves[-1:], short, axis=0)]).reshape(-1, width, m)
    inside = np.concatenate([parts.argmin(axis=1), parts.argmax(axis=1)], axis=1)
    chosen = np.unique(np.minimum(inside + width * np.arange(len(parts))[:, None], t.size - 1))
    return t[chosen], curves[chosen]


def points_per_curve(curves: int) -> int:
    """Points that each of so many curves may have."""
    return max(MIN_POINTS, MAX_NUMBERS // max(curves, 1))
