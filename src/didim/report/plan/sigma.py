"""Predicted standard deviations, beside those of the best random plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.design.plan import Plan
from didim.design.summary import random_ratio
from didim.report.figures import Bars
from didim.results.formatting import number, percent


def sigma(plan: Plan) -> dict[str, Any]:
    """The table, and a picture where random plans were compared."""
    units = {each.name: each.unit for each in plan.model.parameters}
    size = np.where(np.isfinite(plan.values) & (plan.values != 0), np.abs(plan.values), np.nan)
    random = plan.sigma_random
    rows = [
        (
            name,
            number(plan.values[k]),
            units.get(name, ""),
            number(plan.sigma[k]),
            percent(100 * plan.sigma[k] / size[k]),
            "" if random is None else percent(100 * random[k] / size[k]),
            "" if random is None else number(plan.sigma[k] / random[k]),
        )
        for k, name in enumerate(plan.names)
    ]
    return {"plan": plan, "rows": rows, "compared": random is not None, "figure": _figure(plan)}


def _text(plan: Plan, k: int) -> str:
    """Relative sigma of the plan, in percent; in SI units where there is no nominal value."""
    relative = float(plan.relative_sigma[k])
    return f"σ {percent(relative)} %" if np.isfinite(relative) else f"σ {number(plan.sigma[k])}"


def _figure(plan: Plan) -> Bars | None:
    if plan.sigma_random is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = plan.sigma / plan.sigma_random
    shown = [int(k) for k in np.flatnonzero(np.isfinite(ratio))]
    if not shown:
        return None
    worse = int(np.sum(ratio[shown] > 1))
    answer = (
        f"The geometric mean of sigma is {number(random_ratio(plan))} of that of the best random "
        f"plan; {len(shown) - worse} of {len(shown)} unknowns will be known better."
    )
    return Bars(
        "Is it better than a random plan?",
        answer,
        "sigma over that of the best random plan",
        tuple(plan.names[k] for k in shown),
        tuple(float(ratio[k]) for k in shown),
        tuple("c0" if ratio[k] <= 1 else "c1" for k in shown),
        tuple(_text(plan, k) for k in shown),
        (("better than the random plan", "c0"), ("not better", "c1")),
    )
