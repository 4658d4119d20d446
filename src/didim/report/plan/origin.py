"""What the plan was made with."""

from __future__ import annotations

from typing import Any

from didim.design.bursts import Successive
from didim.design.plan import Plan
from didim.results.formatting import number
from didim.results.provenance import versions
from didim.signals.trajectory import Trajectory


def _kinds(trajectory: Trajectory) -> str:
    """What it is, one part after the other."""
    if isinstance(trajectory, Successive):
        return f"{_kinds(trajectory.first)}, {_kinds(trajectory.second)}"
    return type(trajectory).__name__


def origin(plan: Plan, command: str) -> dict[str, Any]:
    """Command, settings and noise."""
    noise = ", ".join(
        f"{name} {number(value)}"
        for name, value in zip(plan.model.robot.joint_names, plan.noise, strict=True)
    )
    rows = [
        ("robot", f"{plan.model.robot.name} ({plan.model.robot.reference})".replace(" ()", "")),
        ("method", f"{plan.method}{', gains unknown' if plan.gains_unknown else ''}"),
        ("trajectory", _kinds(plan.trajectory)),
        ("loop", "none: torque along the trajectory" if plan.loop is None else repr(plan.loop)),
        ("seed", str(plan.seed)),
        ("torque noise, N m or N", noise),
        ("time of the search", f"{plan.seconds:.3g} s"),
        *((str(key), str(value)) for key, value in plan.settings.items()),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions().items())),
    ]
    return {"command": command, "rows": rows}
