"""The table [controller] of a study file."""

from __future__ import annotations

from typing import Literal

from didim.study import types
from didim.study.table import Table


class ControllerTable(Table):
    """The loop that the robot was in."""

    law: Literal["pd", "pid", "cascade", "computed_torque", "servo", "unknown"]
    """pd, pid, cascade or computed_torque: v = kv (kp e + ff dq_r - dq), with ki int(e) for pid,
    kiv int(s) for the cascade. servo: v = kp kp_unit e, a duty limited to +-1. unknown: a pd to
    start from; `didim improve` finds the law, and without gains they are estimated.
    """
    natural_frequency: types.PerJoint = None
    """rad/s: the gains by poles, eq. 58."""
    damping: types.PerJoint = None
    kp: types.PerJoint = None
    """1/s: the controller's own gains."""
    kv: types.PerJoint = None
    """v per rad/s or m/s."""
    ki: types.PerJoint = None
    kiv: types.PerJoint = None
    integral_time: types.PerJoint = None
    Kp: types.PerJoint = None
    """With Kd: the parallel form Kp e + Kd de of a pd."""
    Kd: types.PerJoint = None
    inertia: types.PerJoint = None
    """A priori J of eq. 58, kg m^2 or kg."""
    velocity_reference: types.PerJoint = None
    """Fraction of the reference velocity that is fed forward, 0 to 1."""
    kp_unit: types.PerJoint = None
    """Of a servo: duty per rad or m of one unit of kp, as the firmware counts it."""
    drive_gain: types.Gain = None
    """g of eq. 8; default: the robot's."""
    rate: types.Number = None
    """Samples per second; without it the law is continuous."""
    saturation: types.PerJointLimit = None
    """Limit on |v|."""
    delay: types.Whole = None
    """Samples between reading and command."""
    velocity: Literal["true", "backward_difference", "mean_difference", "none"] | None = None
    encoder: types.PerJoint = None
    """Step of the position sensor, rad or m."""
    model_term: Literal["none", "gravity", "feedforward", "computed_torque"] | None = None
    """What the controller's own model adds."""
    model: types.Text = None
    """That model: "nominal" (the robot's description), a robot file, or a saved estimate
    (.json).
    """
    assumed: types.Switch = None
    """Whether the loop is a guess; the result then says so."""
