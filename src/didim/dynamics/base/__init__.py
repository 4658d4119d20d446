"""Base parameters (4)-(6): by the closed-form rules of Gautier and Khalil, and numerically by QR.

QR always decides which parameters are kept. Where the rules keep the same, which is nearly always,
their exact coefficients are taken; where special geometry lets QR regroup more than the published
rules know of, the coefficients are QR's too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from didim.dynamics.base.numerical import TOLERANCE, random_regressor, regroup_by_qr
from didim.dynamics.base.regrouping import Regrouping
from didim.dynamics.base.rules import regroup_by_rules
from didim.dynamics.layout import Layout, tree_of
from didim.robot.robot import Joint, Robot

__all__ = ["Regrouping", "regroup", "regroup_by_qr", "regroup_by_rules"]

RIGHT_ANGLE_TOLERANCE = 3e-5
"""Axes of two frames this close (rad) to a right angle count as orthogonal: files print 1.5708 for
pi/2.
"""

LENGTH_TOLERANCE = 1e-6
"""A coordinate below this (m) counts as zero: CAD programs print 3.2e-17."""


def regroup(robot: Robot, layout: Layout) -> Regrouping:
    """The base parameters of a model, for the geometry without the rounding of its file (see
    `unrounded`).
    """
    exact = unrounded(robot)
    tree = tree_of(exact)
    numerical = regroup_by_qr(tree, layout)
    if layout.tied is not None:  # the rules know of no joints that move together
        return numerical
    closed_form = regroup_by_rules(exact, layout)
    same = (
        closed_form.kept == numerical.kept
        and closed_form.defect(random_regressor(tree, layout)) < TOLERANCE
    )
    return closed_form if same else numerical


def unrounded(robot: Robot) -> Robot:
    """The robot without the rounding of its file.

    A parameter that differs from others only by the rounding of an angle cannot be identified; it
    is regrouped as if the angle were exact, and the torque is then reproduced to that rounding.
    """
    return replace(robot, joints=tuple(_unrounded(joint) for joint in robot.joints))


def _unrounded(joint: Joint) -> Joint:
    nearly_zero = np.abs(joint.rotation) < RIGHT_ANGLE_TOLERANCE
    shift = np.where(np.abs(joint.translation) < LENGTH_TOLERANCE, 0.0, joint.translation)
    if not np.any(joint.rotation[nearly_zero]):
        return replace(joint, translation=shift)
    U, _, Vt = np.linalg.svd(np.where(nearly_zero, 0.0, joint.rotation))
    nearest = U @ Vt
    return replace(joint, rotation=np.where(nearly_zero, 0.0, nearest), translation=shift)
