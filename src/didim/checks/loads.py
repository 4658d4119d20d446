"""Check of records against each other: one that carries a load which the first does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from didim.checks.data import CheckData
from didim.checks.description import equations
from didim.checks.finding import Finding
from didim.errors import InputError
from didim.regression.least_squares import fit
from didim.results.doubts import WORSE
from didim.results.formatting import joint_label, number
from didim.results.load_seen import load_in

LOAD = "load"
"""The name of this check."""

REMEDY = (
    "these are two robots: identify the empty one alone, save it, and give the other record to "
    "didim payload RESULT FILE."
)


def loads(records: Sequence[CheckData]) -> Iterator[Finding]:
    """A load of the later records, or of the first one, that explains what the parameters of the
    first record leave of them.
    """
    measured = [data for data in records if data.is_measured]
    if len(measured) < 2:
        return
    base = measured[0].model.base
    try:
        first = equations(measured[0], 0)
        chi = fit(first, "wls").values
        others = [equations(data, 0) for data in measured[1:]]
    except InputError:  # too short to say anything
        return
    size = np.linalg.norm(first.residual(chi)) / np.linalg.norm(first.y)
    for data, system in zip(measured[1:], others, strict=True):
        left = system.residual(chi)
        if np.linalg.norm(left) < WORSE * size * np.linalg.norm(system.y):
            continue
        seen = load_in(base, replace(system, y=left), system.W @ chi)
        if seen is None:
            continue
        place = f"at the link of {joint_label(base, seen.joint)}"
        name = measured[0].record.name or "the first record"
        word = "carries" if seen.mass > 0 else "does not carry"
        has = "does not" if seen.mass > 0 else "does"
        text = f"{word} a load of about {number(abs(seen.mass))} kg {place}, which {name!r} {has}"
        yield Finding(LOAD, "warn", text, REMEDY, data.record.name)
