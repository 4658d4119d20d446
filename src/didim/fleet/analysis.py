"""A fleet: every parameter over robots and time, which robot differs and which drifts.

The probability that anything is found in a fleet where nothing is wrong is at most `LEVEL`, over
all robots and parameters and both questions together (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from didim.fleet.finding import Finding, Kind
from didim.fleet.members import Member
from didim.fleet.outliers import MIN_ROBOTS, Centre, Compared, compared
from didim.fleet.row import Row
from didim.fleet.trend import Line, Series, lines

Array = NDArray[np.float64]

LEVEL = 0.01
"""Probability of a wrong finding in a fleet."""


@dataclass(frozen=True, eq=False)
class Fleet:
    """The identifications of a fleet, one for each member: a robot at a time."""

    members: tuple[Member, ...]
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()
    """About the members, for a reader."""

    @cached_property
    def used(self) -> list[tuple[Member, Row]]:
        """Members whose identification converged."""
        return [
            (member, row)
            for member, row in zip(self.members, self.rows, strict=True)
            if row.converged
        ]

    @cached_property
    def robots(self) -> tuple[str, ...]:
        """Names, in the order of the members."""
        return tuple(dict.fromkeys(member.robot for member, _ in self.used))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Parameters that every used member has, with a finite variance above zero."""
        rows = [row for _, row in self.used]
        known = [_known(row) for row in rows]
        first = rows[0].names if rows else ()
        return tuple(name for name in first if all(name in each for each in known))

    @cached_property
    def series(self) -> dict[str, Series]:
        """Of each robot, the parameters of `names`."""
        found = {}
        for robot in self.robots:
            own = [(member, row) for member, row in self.used if member.robot == robot]
            times = [np.nan if member.time is None else member.time for member, _ in own]
            columns = [[row.names.index(name) for name in self.names] for _, row in own]
            pairs = list(zip([row for _, row in own], columns, strict=True))
            values = [row.values[chosen] for row, chosen in pairs]
            covariances = [row.covariance[np.ix_(chosen, chosen)] for row, chosen in pairs]
            found[robot] = Series(np.array(times), np.array(values), np.array(covariances))
        return found

    @cached_property
    def _lines(self) -> tuple[list[Line], Array, float]:
        if not self.names:
            return [], np.ones(0), 0.0
        return lines(list(self.series.values()))

    @property
    def lines(self) -> dict[str, Line]:
        """Level and slope of each robot."""
        return dict(zip(self.robots, self._lines[0], strict=True)) if self.names else {}

    @property
    def scatter(self) -> Array:
        """(b,) scatter from day to day over what the intervals say, at least 1."""
        return self._lines[1]

    @cached_property
    def tests(self) -> int:
        """How many questions are asked."""
        robots = len(self.robots) if len(self.robots) >= MIN_ROBOTS else 0
        slopes = sum(each.slope is not None for each in self.lines.values()) if self.names else 0
        return (robots + slopes) * len(self.names)

    @property
    def _level(self) -> float:
        """Of one test."""
        return LEVEL / max(self.tests, 1)

    @cached_property
    def _compared(self) -> list[Compared]:
        levels = np.array([each.level for each in self.lines.values()])
        variances = np.array([each.level_variance for each in self.lines.values()])
        return [
            compared(levels[:, k], variances[:, k], self._level) for k in range(len(self.names))
        ]

    @cached_property
    def centres(self) -> tuple[Centre, ...]:
        """What the robots that do not differ have in common, by parameter."""
        return tuple(each.common for each in self._compared)

    @cached_property
    def difference_found_from(self) -> Array:
        """(b,) difference from the others at which half of the robots would be found, over the
        mean; nan where robots are too few.
        """
        found = [each.found_from / (abs(each.common.mean) or np.nan) for each in self._compared]
        return np.array(found)

    @cached_property
    def drift_found_from(self) -> Array:
        """(b,) change from the first to the last time at which half of the robots would be found,
        over the mean; nan where there are no lines.
        """
        found = []
        for robot, own in self.lines.items():
            if own.slope_variance is not None:
                duration = float(np.ptp(self.series[robot].times))
                found.append(duration * np.sqrt(own.slope_variance))
        if not found:
            return np.full(len(self.names), np.nan)
        sizes = np.array([abs(each.mean) or np.nan for each in self.centres])
        t = stats.t.isf(0.5 * self._level, self._lines[2])
        return np.asarray(t * np.median(found, axis=0) / sizes)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What stands out, surest first."""
        if not self.names:
            return ()
        found = [*self._differing(), *self._drifting()]
        return tuple(sorted(found, key=lambda each: each.p_value))

    def _differing(self) -> list[Finding]:
        found = []
        for k, (name, among) in enumerate(zip(self.names, self._compared, strict=True)):
            common = among.common
            for robot, p in zip(self.robots, among.p_values * max(self.tests, 1), strict=True):
                if p < LEVEL:
                    own = self.lines[robot]
                    value = float(own.level[k])
                    sigma = float(np.sqrt(own.level_variance[k]))
                    change = (value - common.mean) / (abs(common.mean) or np.nan)
                    numbers = value, sigma, common.mean, change, float(p)
                    found.append(Finding(Kind.DIFFERS, robot, name, *numbers))
        return found

    def _drifting(self) -> list[Finding]:
        found = []
        freedom = self._lines[2]
        for robot, own in self.lines.items():
            if own.slope is None or own.slope_variance is None:
                continue
            sigma = np.sqrt(own.slope_variance)
            p_values = 2 * stats.t.sf(np.abs(own.slope) / sigma, freedom) * self.tests
            since = self.series[robot].times - self.series[robot].times.min()
            duration = float(since.max())
            for k, name in enumerate(self.names):
                if p_values[k] < LEVEL:
                    slope = float(own.slope[k])
                    start = abs(float(own.level[k] - slope * since.mean()))
                    change = slope * duration / start if start > 0 else np.inf
                    spread = float(sigma[k])
                    p = float(p_values[k])
                    found.append(Finding(Kind.DRIFTS, robot, name, slope, spread, 0.0, change, p))
        return found

    @property
    def has_dates(self) -> bool:
        """Whether times are days."""
        return any(member.is_date for member in self.members)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be judged."""
        found = list(self.remarks)
        if not self.findings:
            found += self._what_would_be_found()
        failed = len(self.members) - len(self.used)
        if failed:
            found.append(f"{failed} of {len(self.members)} identifications are not used.")
        if self.used and not self.names:
            found.append(
                "Nothing can be compared: no parameter is in all identifications with a finite "
                "interval."
            )
            return tuple(found)
        if len(self.robots) < MIN_ROBOTS:
            found.append(
                f"Whether a robot differs is judged from {MIN_ROBOTS} robots on; there are "
                f"{len(self.robots)}."
            )
        if not any(each.slope is not None for each in self.lines.values()) and self.used:
            found.append(
                "No robot has four different times, so drift is not judged; --name says where the "
                "names of the files have the time."
            )
        return tuple(found)

    def _what_would_be_found(self) -> Iterator[str]:
        """How large a fault must be, for a reader who is told of none."""
        for what, when, fractions in (
            ("a robot must differ from the others", "", self.difference_found_from),
            ("a value must drift", " from the first to the last time", self.drift_found_from),
        ):
            known = np.flatnonzero(np.isfinite(fractions))
            if known.size:
                least, most = known[[fractions[known].argmin(), fractions[known].argmax()]]
                yield (
                    f"To be found, {what} by {_percent(fractions[least])} % ({self.names[least]}) "
                    f"to {_percent(fractions[most])} % ({self.names[most]}){when}."
                )


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g}" if fraction < 1 else f"{100 * fraction:.0f}"


def _known(row: Row) -> set[str]:
    """Parameters whose value and variance are numbers that can be compared."""
    variance = np.diag(row.covariance)
    chosen = np.isfinite(row.values) & (variance > 0) & np.isfinite(variance)
    chosen &= np.isfinite(row.covariance[:, chosen]).all(axis=1)
    return {name for name, is_known in zip(row.names, chosen, strict=True) if is_known}


def fleet_of(members: Sequence[Member], rows: Sequence[Row], remarks: Sequence[str] = ()) -> Fleet:
    """The fleet of these members and their rows."""
    return Fleet(tuple(members), tuple(rows), tuple(remarks))
