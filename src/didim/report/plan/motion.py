"""One picture for each joint: position, velocity, acceleration and torque over their limits. The
acceleration is that of the reference, as its limit is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.design.plan import Plan
from didim.report.figures import Figure, Series, points_per_curve, thinned
from didim.results.formatting import joint_label, motion_unit, torque_unit, torque_word

Array = NDArray[np.float64]


def motion(plan: Plan) -> dict[str, Any]:
    """The pictures, which zoom together."""
    return {
        "figures": [_figure(plan, j) for j in range(plan.model.robot.n)],
        "simulated": plan.loop is not None,
        "reserve": plan.limits.torque_reserve,
    }


def _figure(plan: Plan, j: int) -> Figure:
    limits, moved, model = plan.limits, plan.motion, plan.model
    ddq = plan.trajectory.sample(plan.trajectory.span[0] + moved.t)[2][:, j]
    low, high = limits.position[j]
    unit, word = motion_unit(model, j), torque_word(model, j)
    curves = {
        "position": 200 * (moved.q[:, j] - 0.5 * (low + high)) / (high - low),
        "velocity": 100 * moved.dq[:, j] / limits.velocity[j],
        "acceleration": 100 * ddq / limits.acceleration[j],
    }
    said = [
        f"Position {moved.q[:, j].min():.3g} to {moved.q[:, j].max():.3g} of [{low:.4g}, "
        f"{high:.4g}] {unit}",
        f"velocity up to {_largest(moved.dq[:, j])} of {limits.velocity[j]:.4g} {unit}/s",
        f"acceleration up to {_largest(ddq)} of {limits.acceleration[j]:.4g} {unit}/s²",
    ]
    tau = f"{word} up to {_largest(moved.tau[:, j])}"
    if np.isfinite(limits.torque[j]):
        curves[word] = 100 * moved.tau[:, j] / limits.torque[j]
        tau += f" of {limits.torque[j]:.4g}"
    said.append(f"{tau} {torque_unit(model, j)}")
    many = len(curves) * model.robot.n
    columns = np.column_stack([*curves.values()])
    t, few = thinned(moved.t, columns, min(points_per_curve(many), 8000))
    return Figure(
        f"How near to its limits is {joint_label(model, j)}?",
        f"{', '.join(said)}.",
        "time, s",
        "% of the limit",
        tuple(Series(name, f"c{k}", t, few[:, k]) for k, name in enumerate(curves)),
        zoom="motion",
        lines=(-100.0, 100.0),
    )


def _largest(values: Array) -> str:
    return f"{np.abs(values).max():.3g}"
