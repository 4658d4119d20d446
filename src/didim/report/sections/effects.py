"""The identified curves of the joints: friction over velocity, other effects over position."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.report.data import ReportData
from didim.report.figures import Figure, Series
from didim.report.sections.section import Section
from didim.report.sections.torques import UNSAVED
from didim.results.effect_columns import effect_columns
from didim.results.effect_curve import EffectCurve, FrictionCurve, friction_curve, position_curve
from didim.results.formatting import joint_label, motion_unit, number, torque_unit, torque_word

Array = NDArray[np.float64]

MAX_POINTS = 1500
"""Of one picture."""


class _Curves(Section):
    """One picture for each joint that has such an effect; no section where none has."""

    @abstractmethod
    def joints_shown(self, data: ReportData) -> list[int]:
        """The joints that have a picture."""

    @abstractmethod
    def figure(self, data: ReportData, joint: int) -> Figure:
        """The picture of a joint."""

    def applies(self, data: ReportData) -> bool:
        """Whether any joint has one."""
        return bool(self.joints_shown(data))

    def absent(self, data: ReportData) -> str:
        """Without finite values, or without the channels that the effects depend on, nothing can be
        shown.
        """
        if not np.all(np.isfinite(data.estimate.parameters)):
            return "The estimate has no finite values."
        return UNSAVED if data.estimate.model.channels and not data.motion_rows else ""

    def content(self, data: ReportData) -> dict[str, Any]:
        """The pictures."""
        return {
            "figures": [self.figure(data, j) for j in self.joints_shown(data)],
            "points": bool(data.motion_rows),
        }


class Friction(_Curves):
    """Friction and offset over velocity."""

    anchor, title = "friction", "Friction"

    def joints_shown(self, data: ReportData) -> list[int]:
        """Those with friction."""
        return _joints(data, lambda columns: columns.rubs)

    def figure(self, data: ReportData, joint: int) -> Figure:
        """Curve, band and rows; where friction grows with the load, without load too."""
        estimate, rows = data.estimate, data.motion_rows
        curve = friction_curve(estimate, joint, rows)
        word, unit = torque_word(estimate.model, joint), torque_unit(estimate.model, joint)
        speed = f"{motion_unit(estimate.model, joint)}/s"
        more: tuple[Series, ...] = ()
        answer = f"{_ends(curve, unit, speed)} {_known(curve, unit)}"
        if curve.load:
            free = friction_curve(estimate, joint, rows, 0.0)
            more = (Series("without load", "estimated", free.x, free.torque, "dashed"),)
            answer += f" At a load of {curve.load:.3g} {unit}, the root mean square."
        elif estimate.model.loaded:
            answer += " Without load."
        return Figure(
            f"What is the friction of {joint_label(estimate.model, joint)}?",
            answer + _at_channels(curve),
            f"velocity, {speed}",
            f"friction {word}, {unit}",
            (*_series(curve), *more),
        )


class Effects(_Curves):
    """Springs, ripple and other effects over position."""

    anchor, title = "effects", "Effects of the position"

    def joints_shown(self, data: ReportData) -> list[int]:
        """Those with such an effect."""
        return _joints(data, lambda columns: bool(columns.position.any()))

    def figure(self, data: ReportData, joint: int) -> Figure:
        """Curve, band and rows."""
        model = data.estimate.model
        curve = position_curve(data.estimate, joint, data.motion_rows)
        word, unit = torque_word(model, joint), torque_unit(model, joint)
        names = [
            name
            for name, shown in zip(
                model.parameter_names, effect_columns(model, joint).position, strict=True
            )
            if shown
        ]
        place = motion_unit(model, joint)
        least, most = int(np.argmin(curve.torque)), int(np.argmax(curve.torque))
        answer = (
            f"{', '.join(names)}: from {curve.torque[least]:.3g} {unit} at {curve.x[least]:.3g} "
            f"{place} to {curve.torque[most]:.3g} {unit} at {curve.x[most]:.3g} {place}. "
            f"{_known(curve, unit)}"
        )
        return Figure(
            f"Which {word} of {joint_label(model, joint)} depends on its position?",
            answer + _at_channels(curve),
            f"position, {place}",
            f"{word}, {unit}",
            _series(curve),
        )


def _joints(data: ReportData, has: Callable[[Any], bool]) -> list[int]:
    model = data.estimate.model
    return [j for j in range(model.robot.n) if has(effect_columns(model, j))]


def _series(curve: EffectCurve) -> tuple[Series, ...]:
    """Rows below, then the band, the curve on top."""
    x, points = _few(curve.points_x, curve.points)
    rows = (Series("rows of the records", "measured", x, points, "points"),) if x.size else ()
    known = np.isfinite(curve.low) & np.isfinite(curve.high)
    band = Series("95 % band", "estimated", curve.x, curve.low, "band", curve.high)
    line = Series("identified", "estimated", curve.x, curve.torque)
    return (*rows, *((band,) if known.any() else ()), line)


def _few(x: Array, points: Array) -> tuple[Array, Array]:
    """Points in the order of x, at most `MAX_POINTS` of them, evenly chosen."""
    order = np.argsort(x, kind="stable")
    count = min(x.size, MAX_POINTS)
    chosen = order[np.linspace(0, max(x.size - 1, 0), count).astype(int)]
    return x[chosen], points[chosen]


def _ends(curve: FrictionCurve, unit: str, speed: str) -> str:
    """Friction at rest and at the largest speed, in each direction."""
    texts = []
    zeros = np.flatnonzero(curve.x == 0)
    for word, last, first in (("forward", -1, zeros[-1]), ("backward", 0, zeros[0])):
        end, side, rest = curve.x[last], curve.torque[last], curve.torque[first]
        if end != 0:
            texts.append(
                f"{word} {rest:.3g} {unit} at rest, {side:.3g} {unit} at {end:.3g} {speed}"
            )
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def _known(curve: EffectCurve, unit: str) -> str:
    """The width of the band, and how far the rows lie from the curve."""
    half = 0.5 * (curve.high - curve.low)
    text = (
        f"The band is at most ±{half.max():.2g} {unit}."
        if np.all(np.isfinite(half))
        else "How well it is known cannot be said."
    )
    if curve.points.size:
        drawn = f"; {MAX_POINTS} are drawn" if curve.points.size > MAX_POINTS else ""
        text += f" {curve.points.size} rows, {curve.scatter:.2g} {unit} rms from the curve{drawn}."
    return text


def _at_channels(curve: EffectCurve) -> str:
    values = ", ".join(f"{name} {number(value)}" for name, value in curve.channels.items())
    return f" At the mean of the records: {values}." if values else ""
