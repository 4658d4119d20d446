"""A `LackOfFit` as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from didim.results.lack_of_fit import LackOfFit, LackRow, Remedy


def plain_lack(lack: LackOfFit) -> dict[str, Any]:
    """For JSON; joints count from 0."""
    return {
        "reason": lack.reason,
        "negligible": lack.negligible,
        "level": lack.level,
        "part": lack.part,
        "note": lack.note,
        "groups": dict(lack.groups),
        "shifts": dict(lack.shifts),
        "suspects": [plain_row(row) for row in lack.rows],
    }


def plain_row(row: LackRow) -> dict[str, Any]:
    """One suspect."""
    return {
        "name": row.name,
        "group": row.group,
        "joint": row.joint,
        "value": row.value,
        "sigma": row.sigma,
        "unit": row.unit,
        "p_value": row.p_value,
        "share": row.share,
        "remedy": row.remedy.value,
        "setting": row.setting,
        "found": row.found,
        "alternatives": list(row.alternatives),
        "effect": row.effect,
        "shapes": dict(row.shapes),
    }


def lack_of(data: Mapping[str, Any]) -> LackOfFit:
    """What `plain_lack` wrote; before there were long records, without the part that was tested."""
    rows = tuple(_row_of(each) for each in data["suspects"])
    return LackOfFit(
        rows,
        dict(data["groups"]),
        data["reason"],
        bool(data["negligible"]),
        float(data["level"]),
        {name: np.inf if each is None else each for name, each in data["shifts"].items()},
        float(data.get("part", 1.0)),
    )


def _row_of(data: Mapping[str, Any]) -> LackRow:
    numbers: dict[str, Any] = {
        name: np.inf if data[name] is None else float(data[name])
        for name in ("value", "sigma", "p_value", "share")
    }
    kept = ("name", "group", "joint", "unit", "setting", "effect")
    words: dict[str, Any] = {name: data[name] for name in kept}
    return LackRow(
        **words,
        **numbers,
        remedy=Remedy(data["remedy"]),
        found=bool(data["found"]),
        alternatives=tuple(data["alternatives"]),
        shapes=dict(data["shapes"]),
    )
