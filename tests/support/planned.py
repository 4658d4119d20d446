"""A plan judged from outside: its trajectory at ten times the rate, its loop simulated, torques and
link frames by Pinocchio.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import didim
from didim.design.capsules import link_capsules
from didim.design.clearance import clearances
from didim.robot.robot import BASE
from didim.study.planned import plan_study
from support.pinocchio_model import pinocchio_model

CASES = Path(__file__).parents[2] / "cases"
CHECK_RATE = 10_000.0


def case(robot: str) -> didim.Study:
    """The published design case of a robot: its model, loop and limits."""
    return didim.load_study(CASES / f"excite_{robot}.toml")


def planned(robot: str, **settings: Any) -> didim.Plan:
    """The plan of a case, with other settings of `didim.excite`."""
    return plan_study(case(robot), settings, {})[0]


def outside_margins(plan: didim.Plan, rate: float = CHECK_RATE) -> dict[str, float]:
    """How far the plan is inside each kind of limit, as a fraction of it; negative: violated."""
    limits, (start, end) = plan.limits, plan.trajectory.span
    t = np.linspace(start, end, round((end - start) * rate) + 1)
    q, dq, ddq = plan.trajectory.sample(t)
    moved = didim.simulate(
        plan.model, plan.model.nominal, plan.loop, t=t, q_ref=plan.trajectory, check=False
    )
    lower, upper = limits.position.T
    jerk = np.diff(ddq, axis=0) * rate
    both = np.concatenate([q, moved.q])
    peer = _torques(plan, moved)
    return {
        "position": float(np.min([both - lower, upper - both] / (upper - lower))),
        "velocity": float(1 - np.max(np.abs([dq, moved.dq]) / limits.velocity)),
        "acceleration": float(1 - np.max(np.abs(ddq) / limits.acceleration)),
        "jerk": float(1 - np.max(np.abs(jerk) / limits.jerk)),
        "torque": float(1 - np.max(np.abs(moved.tau) / limits.usable_torque)),
        "torque of Pinocchio": float(1 - np.max(np.abs(peer) / limits.usable_torque)),
        "clearance": float(clearances(plan.model.robot, limits).distances(both).min()),
        "clearance by Pinocchio": _clearance(plan, np.concatenate([q[::100], moved.q[::100]])),
    }


def _torques(plan: didim.Plan, moved: didim.Motion, every: int = 10) -> np.ndarray:
    """Joint torques along the simulated motion: rigid bodies by Pinocchio, the rest by their
    formulas.
    """
    full = plan.model.full
    peer = pinocchio_model(full)
    data = peer.createData()
    rows = slice(None, None, every)
    q, dq, ddq = moved.q[rows], moved.dq[rows], moved.ddq[rows]
    rigid = np.array([pin.rnea(peer, data, *each) for each in zip(q, dq, ddq, strict=True)])
    values = full.nominal.copy()
    values[full.layout.link] = 0.0
    return rigid + full.inverse_dynamics(q, dq, ddq, values, moved.slip[rows])


def _clearance(plan: didim.Plan, q: np.ndarray) -> float:
    """Least distance to the floor of the ends of all capsules, placed by Pinocchio, less their
    radius, m.
    """
    robot = plan.model.robot
    watched = {name for name in clearances(robot, plan.limits).names if name.startswith("floor")}
    peer = pinocchio_model(plan.model.full)
    data, least = peer.createData(), np.inf
    links = [
        link
        for link in link_capsules(robot)
        if link.joint != BASE and f"floor: {link.label}" in watched
    ]
    for pose in q:
        pin.forwardKinematics(peer, data, pose)
        for link in links:
            place = data.oMi[link.joint + 1]
            for capsule in link.capsules:
                for end in (capsule.start, capsule.end):
                    least = min(least, place.act(np.asarray(end))[2] - capsule.radius)
    return float(least - plan.limits.floor)
