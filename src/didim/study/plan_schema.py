"""The tables [limits] and [excite] of a study file, for planned motions."""

from __future__ import annotations

from typing import Literal

from didim.study import types
from didim.study.table import Table


class LimitsTable(Table):
    """What a planned motion must not exceed (`didim.Limits`); default: the robot's own limits."""

    position: types.Ranges = None
    """Lower and upper position of each joint, rad or m."""
    velocity: types.PerJoint = None
    """rad/s or m/s."""
    acceleration: types.PerJoint = None
    """rad/s^2 or m/s^2."""
    jerk: types.PerJoint = None
    """rad/s^3 or m/s^3."""
    torque: types.PerJointLimit = None
    """N.m or N."""
    torque_reserve: types.Number = None
    """Fraction of the torque that is kept for what the nominal model does not know."""
    floor: types.Number = None
    """Height of the floor in the base frame, m."""
    box: types.Box = None
    """What the moving links stay in, in the base frame, m."""
    self_collision: types.Number = None
    """Clearance between links, m; default: 0.01 where the description has shapes of all links."""


class ExciteTable(Table):
    """Settings of `didim excite`."""

    duration: types.Number = None
    """s."""
    rate: types.Number = None
    """Samples per second of the record, and of the file that is written."""
    seed: types.Whole = None
    trajectories: types.Whole = None
    """How many, each for what those before it leave unknown; default: 1."""
    gains_unknown: types.Switch = None
    """Whether the gains of the loop are to be estimated too; default: didim.estimate_gains."""
    criterion: Literal["logdet", "sigma", "worst", "condition"] | None = None
    """What is made small: the volume of the confidence ellipsoid, the mean of log sigma with
    `weights`, or the largest relative sigma; "condition" is for comparison.
    """
    weights: types.Values = None
    """For "sigma": weights of unknowns, by names or their beginnings, such as { Fc = 1.0 }."""
    noise: types.PerJoint = None
    """Standard deviation of the torque of a sample, N.m or N."""
    start: types.Angles = None
    """Where the motion begins and ends, rad or m."""
    basis: Literal["fourier", "spline"] | None = None
    harmonics: types.Whole = None
    random_plans: types.Whole = None
    """How many random plans within the same limits to compare with."""
    after: types.Texts = None
    """What is known already: saved results (.json), and "records" for those of this study."""
