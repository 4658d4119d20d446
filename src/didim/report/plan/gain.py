"""What the plan adds to an earlier estimate or to records."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.design.plan import Plan
from didim.report.figures import Bars
from didim.results.formatting import listed, number


def gain(plan: Plan) -> dict[str, Any] | None:
    """A picture, and the unknowns of which nothing was known; None where nothing was given."""
    before = plan.sigma_before
    if before is None:
        return None
    new = [name for name, each in zip(plan.names, before, strict=True) if not np.isfinite(each)]
    return {"new": listed(new, 30), "figure": _figure(plan, before)}


def _figure(plan: Plan, before: np.ndarray) -> Bars | None:
    shown = np.flatnonzero(np.isfinite(before) & (before > 0) & np.isfinite(plan.sigma))
    if not shown.size:
        return None
    left = plan.sigma[shown] / before[shown]
    order = np.argsort(left)
    best = plan.names[shown[order[0]]]
    return Bars(
        "Which parameters gain most?",
        f"{best} gains most: its sigma falls to {number(left[order[0]])} of what it was; the "
        f"geometric mean over all is {number(float(np.exp(np.mean(np.log(left)))))}.",
        "sigma after, over sigma before",
        tuple(plan.names[shown[k]] for k in order),
        tuple(float(left[k]) for k in order),
        tuple("c0" if left[k] < 0.5 else "c4" for k in order),
        tuple(number(left[k]) for k in order),
        (("halved at least", "c0"), ("less", "c4")),
    )
