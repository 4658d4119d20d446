"""The first screen: what is planned, its key figures, and what to know before running it."""

from __future__ import annotations

from typing import Any

import numpy as np

from didim.design.plan import Plan
from didim.design.summary import described, random_ratio, undetermined
from didim.results.formatting import fraction, listed, number


def headline(plan: Plan) -> dict[str, Any]:
    """Sentence, key figures and messages."""
    level, sentence = "yes", "This motion stays inside every limit."
    if plan.stopped:
        level = "care"
        sentence += " The search was stopped on request: more time may give a better one."
    if unseen := undetermined(plan):
        level = "care"
        sentence += f" It does not determine {len(unseen)} of {len(plan.names)} unknowns."
    return {
        "plan": plan,
        "robot": plan.model.robot,
        "level": level,
        "sentence": sentence,
        "tiles": _tiles(plan),
        "notes": [
            *([f"Not determined: {listed(unseen, 40)}."] if unseen else []),
            *plan.messages,
        ],
    }


def _tiles(plan: Plan) -> list[tuple[str, str, str]]:
    """Figure, what it is, and a remark."""
    known = plan.relative_sigma[np.isfinite(plan.relative_sigma)]
    tiles = [(f"{plan.duration:.4g} s", "of motion", f"{plan.rate:g} samples a second")]
    if known.size:
        good = int(np.sum(known < 30))
        tiles.append(
            (
                f"{np.median(known):.2g} %",
                "median predicted sigma",
                f"of {known.size} parameters with a nominal value",
            )
        )
        tiles.append((f"{good} of {described(plan)}", "will be significant", "sigma below 30 %"))
    ratio = random_ratio(plan)
    if np.isfinite(ratio):
        tiles.append(
            (number(ratio), "of the sigma of the best random plan", "geometric mean, same limits")
        )
    if plan.margins:
        name = min(plan.margins, key=lambda each: plan.margins[each])
        tiles.append((fraction(plan.margins[name]), "least margin", name))
    return tiles
