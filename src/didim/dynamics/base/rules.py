"""Base parameters in closed form (Gautier and Khalil 1990; Khalil and Dombre 2002, chapter 9), for
chains and trees.

From the tips to the base, each parameter that has no effect of its own is regrouped with those of
the parent, or dropped. The rules need only axes and origins: modified Denavit-Hartenberg frames, or
any others with z along the joint. On the path from the base to joint j, r1 is the first revolute
joint and r2 the first one after it whose axis is not parallel to that of r1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.base.regrouping import Regrouping, regrouping
from didim.dynamics.layout import Layout
from didim.robot.effects import LINK
from didim.robot.inertia import transfer_matrix
from didim.robot.robot import BASE, Robot

Array = NDArray[np.float64]

_XX, _XY, _XZ, _YY, _YZ, _ZZ, _MX, _MY, _MZ, _M = range(len(LINK))
_ZERO_TOLERANCE = 1e-9
"""Below this, the cosine of an angle or a length in m is zero."""


def regroup_by_rules(robot: Robot, layout: Layout) -> Regrouping:
    """Base parameters by the closed-form rules.

    Implements (5), (64).
    """
    table = _Table(robot, layout)
    for j in reversed(range(robot.n)):
        path = _path(robot, j)
        _hand_on_general(table, j)
        if path.before_r1:
            table.drop(j, _MX, _MY, _MZ)
        elif path.before_r2:
            if robot.joints[j].kind == "revolute":
                table.drop(j, _XX, _XY, _XZ, _YZ)
                if path.along_r1 and path.all_along_gravity:
                    table.drop(j, _MX, _MY)
            else:
                _hand_on_sliding(table, j, path)
        _join_rotor(table, j, path)
    return table.result()


class _Table:
    """Row i holds what standard parameter i stands for by now: at first itself, zero once it is
    handed on.
    """

    def __init__(self, robot: Robot, layout: Layout) -> None:
        self.robot = robot
        self.layout = layout
        self.rows = np.eye(len(layout.names))

    def drop(self, j: int, *which: int) -> None:
        """Parameters of link j that have no effect."""
        self.rows[self.layout.link[j, list(which)]] = 0.0

    def hand_to_parent(self, j: int, which: int, amounts: Array) -> None:
        """Parameter `which` of link j adds `amounts` (10,) of itself to the parameters of the
        parent link, and is gone.
        """
        own, parent = self.layout.link[j, which], self.robot.joints[j].parent
        if parent != BASE:
            self.rows[self.layout.link[parent]] += np.outer(amounts, self.rows[own])
        self.rows[own] = 0.0

    def hand(self, source: int, target: int, factor: float) -> None:
        """Column `source` adds `factor` of itself to column `target`; it stays until it is
        dropped.
        """
        self.rows[target] += factor * self.rows[source]

    def result(self) -> Regrouping:
        kept = np.flatnonzero(np.any(self.rows != 0.0, axis=1))
        rows = self.rows[kept]
        rows[np.abs(rows) < 1e-13 * np.abs(rows).max(axis=0)] = 0.0
        return regrouping(kept.tolist(), rows, self.layout.names, "rules")


@dataclass(frozen=True)
class _Path:
    """What the rules use of the path from the base to joint j."""

    before_r1: bool
    """Joint j is prismatic and nothing below it turns."""
    before_r2: bool
    """Everything that turns up to and with joint j turns about axes parallel to that of r1."""
    axis_r1: Array
    """(3,) axis of r1 in frame j, zero where there is no r1."""
    along_r1: bool
    """All joints from r1 to j lie on the axis of r1."""
    all_along_gravity: bool
    """Gravity and all axes up to joint j are parallel to that of r1."""
    first_orthogonal: bool
    """Joint j is r1, or it is r2 and orthogonal to r1."""


def _path(robot: Robot, j: int) -> _Path:
    """Walk from the base to joint j at q = 0: rotations about r1 do not change what is read off."""
    chain = [j]
    while robot.joints[chain[0]].parent != BASE:
        chain.insert(0, robot.joints[chain[0]].parent)
    R, p = np.eye(3), np.zeros(3)
    r1: Array | None = None
    r1_origin = np.zeros(3)
    turns_parallel, on_line, first_orthogonal = True, True, False
    axes: list[Array] = []
    for i in chain:
        joint = robot.joints[i]
        p = R @ joint.translation + p
        R = R @ joint.rotation
        z = R[:, 2]
        axes.append(z)
        revolute = joint.kind == "revolute"
        if revolute and r1 is None:
            r1, r1_origin, first_orthogonal = z, p, True
        elif revolute and r1 is not None:
            first_orthogonal = turns_parallel and bool(abs(z @ r1) < _ZERO_TOLERANCE)
            turns_parallel = turns_parallel and _parallel(z, r1)
        if r1 is not None:
            on_line = (
                on_line
                and _parallel(z, r1)
                and bool(np.linalg.norm(np.cross(p - r1_origin, r1)) < _ZERO_TOLERANCE)
            )
    axis = np.zeros(3) if r1 is None else r1
    gravity = robot.gravity / (np.linalg.norm(robot.gravity) or 1.0)
    return _Path(
        before_r1=r1 is None,
        before_r2=r1 is not None and turns_parallel,
        axis_r1=R.T @ axis,
        along_r1=on_line,
        all_along_gravity=all(_parallel(each, axis) for each in [gravity, *axes]),
        first_orthogonal=first_orthogonal and robot.joints[j].kind == "revolute",
    )


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < _ZERO_TOLERANCE)


def _hand_on_general(table: _Table, j: int) -> None:
    """The general rule: the columns of lambda that do not depend on q_j go to the parent.

    Revolute: YY with XX (lambda_XX + lambda_YY), MZ and M. Prismatic: the whole inertia tensor.
    """
    joint, link = table.robot.joints[j], table.layout.link[j]
    lam = transfer_matrix(joint.rotation, joint.translation)
    if joint.kind == "revolute":
        table.hand(link[_YY], link[_XX], -1.0)
        table.hand_to_parent(j, _YY, lam[:, _XX] + lam[:, _YY])
        table.hand_to_parent(j, _MZ, lam[:, _MZ])
        table.hand_to_parent(j, _M, lam[:, _M])
    else:
        for which in (_XX, _XY, _XZ, _YY, _YZ, _ZZ):
            table.hand_to_parent(j, which, lam[:, which])


def _hand_on_sliding(table: _Table, j: int, path: _Path) -> None:
    """Prismatic joint between r1 and r2: the moment along the axis of r1 has no effect."""
    joint, link = table.robot.joints[j], table.layout.link[j]
    a = path.axis_r1
    if np.hypot(a[0], a[1]) < _ZERO_TOLERANCE:
        lam = transfer_matrix(joint.rotation, joint.translation)
        table.hand_to_parent(j, _MX, lam[:, _MX])
        table.hand_to_parent(j, _MY, lam[:, _MY])
        table.drop(j, _MZ)
        return
    last = max(k for k in range(3) if abs(a[k]) > _ZERO_TOLERANCE)
    for k in range(last):
        table.hand(
            link[_MX + last], link[_MX + k], -a[k] / a[last] if abs(a[k]) > _ZERO_TOLERANCE else 0.0
        )
    table.drop(j, _MX + last)


def _join_rotor(table: _Table, j: int, path: _Path) -> None:
    """Ia_j joins ZZ_j where link j turns about z_j by q_j alone, and M_j where it is the first to
    slide, free of gravity.
    """
    own = [
        entry.column
        for entry in table.layout.entries
        if (entry.row, entry.index, entry.signal) == (j, j, "ddq")
    ]
    joint = table.robot.joints[j]
    axis = joint.rotation[:, 2]
    slides_freely = (
        joint.kind == "prismatic"
        and joint.parent == BASE
        and abs(axis @ table.robot.gravity) < _ZERO_TOLERANCE
    )
    for column in own:
        if path.first_orthogonal or slides_freely:
            table.hand(column, table.layout.link[j, _ZZ if path.first_orthogonal else _M], 1.0)
            table.rows[column] = 0.0
