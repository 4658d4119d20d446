"""The report of a fleet: what stands out, every parameter over robots and time, and links to the
reports of the single identifications.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from didim.fleet.analysis import LEVEL, Fleet
from didim.fleet.finding import Finding, Kind
from didim.fleet.members import Member
from didim.fleet.pictures import over_robots, over_time
from didim.report.html import Part, rendered
from didim.results.formatting import number, percent
from didim.results.provenance import versions

_TEMPLATES = {"robots": "pictures", "time": "pictures"}
"""Of sections whose template has another name."""

SECONDS_PER_DAY = 86400


def fleet_page(fleet: Fleet, links: Sequence[str], command: str = "") -> bytes:
    """The whole page, UTF-8; `links` are the reports of the members, empty where there is none."""
    sections: list[tuple[str, str, dict[str, Any]]] = [
        ("headline", "What stands out?", _headline(fleet)),
        ("findings", "Findings", {"rows": [_finding(each) for each in fleet.findings]}),
        ("robots", "Every parameter over the robots", {"figures": _levels(fleet)}),
        ("time", "Every parameter over time", {"figures": over_time(fleet)}),
        ("parameters", "All numbers", {"rows": parameter_rows(fleet)}),
        ("members", "The identifications", {"rows": _members(fleet, links)}),
        ("origin", "How to reproduce it", _origin(fleet, command)),
    ]
    parts = [
        Part(anchor, title, f"fleet/{_TEMPLATES.get(anchor, anchor)}.html", content)
        for anchor, title, content in sections
        if anchor == "headline" or any(content.values())
    ]
    return rendered(f"Fleet of {len(fleet.robots)} robots: {sentence(fleet)}", parts)


def sentence(fleet: Fleet) -> str:
    """What was found, in one sentence."""
    differing = {each.robot for each in fleet.findings if each.kind is Kind.DIFFERS}
    drifting = {each.robot for each in fleet.findings if each.kind is Kind.DRIFTS}
    if not fleet.used:
        return "No identification can be used."
    if not fleet.findings:
        return "Nothing stands out." if fleet.tests else "Nothing could be compared."
    found = [
        *([_counted(differing, "differs", "differ")] if differing else []),
        *([_counted(drifting, "drifts", "drift")] if drifting else []),
    ]
    return f"{' and '.join(found)}."


def _counted(robots: set[str], one: str, several: str) -> str:
    return f"{len(robots)} robot{'s'[: len(robots) > 1]} {one if len(robots) == 1 else several}"


def _headline(fleet: Fleet) -> dict[str, Any]:
    level = "yes" if fleet.tests and not fleet.findings else "care"
    unused = len(fleet.members) - len(fleet.used)
    tiles = [
        (str(len(fleet.robots)), "robots", ""),
        (str(len(fleet.used)), "identifications", f"{unused} not used"),
        (str(len(fleet.names)), "parameters of each", ""),
        (str(len(fleet.findings)), "findings", f"of {fleet.tests} tests"),
    ]
    return {
        "level": level if fleet.used else "no",
        "sentence": sentence(fleet),
        "tiles": tiles,
        "notes": [*(each.sentence for each in fleet.findings), *fleet.notes],
        "methods": sorted({row.method for _, row in fleet.used}),
        "percent": percent(100 * LEVEL),
    }


def _finding(each: Finding) -> tuple[str, ...]:
    return (
        each.robot,
        each.parameter,
        str(each.kind),
        number(each.value),
        number(each.sigma),
        number(each.usual),
        f"{100 * each.change:+.3g}",
        f"{each.p_value:.1e}",
    )


def _levels(fleet: Fleet) -> list[Any]:
    return over_robots(fleet) if len(fleet.robots) > 1 and fleet.names else []


def parameter_rows(fleet: Fleet) -> list[tuple[str, ...]]:
    """Of each parameter: mean, scatter between robots, median sigma of an identification (percent
    of the mean), scatter from day to day over what the intervals say; from which difference and
    which drift on a robot would be found (percent of the mean).
    """
    if not fleet.names:
        return []
    sigma = np.concatenate(
        [np.sqrt(np.diagonal(each.covariances, 0, 1, 2)) for each in fleet.series.values()]
    )
    rows: list[tuple[str, ...]] = []
    for k, (name, common) in enumerate(zip(fleet.names, fleet.centres, strict=True)):
        size = abs(common.mean) if common.mean else np.nan
        rows.append(
            (
                name,
                number(common.mean),
                percent(100 * np.sqrt(common.between) / size),
                percent(100 * float(np.median(sigma[:, k])) / size),
                number(float(fleet.scatter[k])),
                _found_from(fleet.difference_found_from[k]),
                _found_from(fleet.drift_found_from[k]),
            )
        )
    return rows


def _found_from(fraction: float) -> str:
    return percent(100 * fraction) if np.isfinite(fraction) else "-"


def _members(fleet: Fleet, links: Sequence[str]) -> list[dict[str, Any]]:
    numbers = {robot: k for k, robot in enumerate(fleet.robots, 1)}
    return [
        {
            "number": numbers.get(member.robot, ""),
            "robot": member.robot,
            "time": _shown_time(member),
            "name": Path(member.name).name,
            "status": row.status,
            "verdict": row.verdict,
            "residual": percent(100 * row.residual) if np.isfinite(row.residual) else "",
            "reason": "" if row.converged else row.reason,
            "link": link,
        }
        for member, row, link in zip(fleet.members, fleet.rows, links, strict=True)
    ]


def _shown_time(member: Member) -> str:
    if member.time is None:
        return ""
    if not member.is_date:
        return f"{member.time:.12g}"
    moment = datetime.fromtimestamp(round(member.time * SECONDS_PER_DAY), UTC)
    return moment.strftime("%Y-%m-%d" if member.time.is_integer() else "%Y-%m-%d %H:%M")


def _origin(fleet: Fleet, command: str) -> dict[str, Any]:
    rows = [
        ("level of the findings", f"{percent(100 * LEVEL)} % for all {fleet.tests} tests together"),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions().items())),
    ]
    return {"command": command, "rows": rows}
