"""The loop of an estimate as servos of its joints, the form that simulators have it in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from didim.control.laws import PD
from didim.robot.simulator_values import ServoGains
from didim.validation import per_joint

if TYPE_CHECKING:
    from didim.results.estimate import Estimate


def servo_gains(estimate: Estimate) -> dict[str, ServoGains]:
    """Gains at the joint, by its name, of a PD whose drives do not couple joints; empty for other
    laws.
    """
    loop, model = estimate.controller, estimate.model
    if not isinstance(loop, PD) or loop.model_term != "none":
        return {}
    n, g = model.robot.n, loop.drive(model)
    drive = np.diagonal(g)
    if np.count_nonzero(g) > np.count_nonzero(drive):
        return {}
    if loop.by_poles and loop.inertia is None:
        last = estimate.history[-1].gains if estimate.history else {}
        if not {"kp", "kv"} <= last.keys():
            return {}
        kp, kv = last["kp"], last["kv"]
        ff = per_joint(loop.velocity_reference, "velocity_reference", n)
    else:
        J = np.ones(n) if loop.inertia is None else per_joint(loop.inertia, "inertia", n)
        gains = loop.gains(n, drive, J)
        kp, kv, ff = gains.kp, gains.kv, gains.ff
    if not np.all(drive * kv > 0):
        return {}
    limits = np.abs(drive) * np.broadcast_to(np.asarray(loop.saturation, dtype=float), (n,))
    return {
        name: ServoGains(float(g * v * p), float(g * v), float(f), float(limit))
        for name, g, v, p, f, limit in zip(
            model.robot.joint_names, drive, kv, kp, ff, limits, strict=True
        )
    }
