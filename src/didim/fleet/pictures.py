"""Pictures of a fleet: each parameter over the robots and over time, with 95 % intervals."""

from __future__ import annotations

import numpy as np

from didim.fleet.analysis import Fleet
from didim.fleet.finding import Kind
from didim.report.figures import Figure, Series
from didim.results.formatting import listed, number

NORMAL_95 = 1.96
"""Standard deviations of a 95 % interval."""

USUAL, OTHERS, FLAGGED = "c0", "measured", "c1"
"""Colours of the style sheet."""


def over_robots(fleet: Fleet) -> list[Figure]:
    """One picture for each parameter: the level of each robot."""
    return [_levels(fleet, k) for k in range(len(fleet.names))]


def over_time(fleet: Fleet) -> list[Figure]:
    """One picture for each parameter: every identification of the robots that have times."""
    timed = [robot for robot, line in fleet.lines.items() if line.slope is not None]
    return [_trend(fleet, k, timed) for k in range(len(fleet.names))] if timed else []


def _flagged(fleet: Fleet, kind: Kind, name: str) -> list[str]:
    return [each.robot for each in fleet.findings if each.kind is kind and each.parameter == name]


def _levels(fleet: Fleet, k: int) -> Figure:
    name, common = fleet.names[k], fleet.centres[k]
    flagged = _flagged(fleet, Kind.DIFFERS, name)
    series = []
    for place, robot in enumerate(fleet.robots, 1):
        own = fleet.lines[robot]
        half = NORMAL_95 * float(np.sqrt(own.level_variance[k]))
        color, at = FLAGGED if robot in flagged else USUAL, float(own.level[k])
        series.append(Series(robot, color, [place, place], [at - half, at + half]))
        series.append(Series(robot, color, [place], [at], "marks"))
    answer = (
        f"{listed(flagged)} {'differs' if len(flagged) == 1 else 'differ'} from the others."
        if flagged
        else f"No robot stands out; the mean is {number(common.mean)}."
    )
    return Figure(
        f"{name}: does a robot differ?",
        answer,
        "robot, by its number in the table",
        name,
        tuple(series),
        whole=True,
        legend=(("robot, 95 % interval", USUAL), *([("differs", FLAGGED)] if flagged else [])),
        lines=(common.mean,),
    )


def _trend(fleet: Fleet, k: int, timed: list[str]) -> Figure:
    name = fleet.names[k]
    flagged = _flagged(fleet, Kind.DRIFTS, name)
    first = min(float(fleet.series[robot].times.min()) for robot in timed)
    series = []
    for robot in sorted(timed, key=lambda each: each in flagged):
        own = fleet.series[robot]
        order = np.argsort(own.times, kind="stable")
        t, y = own.times[order] - first, own.values[order, k]
        if robot in flagged:
            half = NORMAL_95 * np.sqrt(own.covariances[order, k, k]) * fleet.scatter[k]
            series += [
                Series(robot, FLAGGED, [at, at], [middle - width, middle + width])
                for at, middle, width in zip(t, y, half, strict=True)
            ]
            series.append(Series(robot, FLAGGED, t, y, "marks"))
        else:
            series.append(Series(robot, OTHERS, t, y))
    answer = (
        f"{listed(flagged)} {'drifts' if len(flagged) == 1 else 'drift'}, shown with 95 % "
        "intervals."
        if flagged
        else "No robot drifts."
    )
    return Figure(
        f"{name}: does a robot drift?",
        answer,
        "days since the first" if fleet.has_dates else "time since the first",
        name,
        tuple(series),
        legend=(("robot", OTHERS), *([("drifts", FLAGGED)] if flagged else [])),
    )
