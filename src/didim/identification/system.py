"""`LinearSystem`: Y = W chi + rho, the equations of each joint grouped together (10)-(14), (45)-(48)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.torque import TorqueModel
from didim.signals.rows import Selection
from didim.signals.states import States

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """r equations in b parameters, joint by joint (14), never mixed across joints or experiments."""

    W: Array
    """(r, b)."""
    y: Array
    """(r,) N.m or N."""
    joint: Integers
    """(r,) joint of each row."""
    series: Integers
    """(r,) experiment of each row."""
    index: Integers
    """(r,) which decimated sample of its experiment the row is; rows at rest are missing."""
    names: tuple[str, ...]
    """(b,) parameters."""
    n: int
    """Number of joints."""
    correlation: Array
    """(L,) autocorrelation that white torque noise has from row to row, by the decimation filter."""

    def residual(self, parameters: Array) -> Array:
        """rho = Y - W chi (r,)."""
        return np.asarray(self.y - self.W @ parameters)

    def only(self, columns: Integers) -> LinearSystem:
        """The same equations in fewer parameters; the others are zero."""
        return replace(self, W=self.W[:, columns], names=tuple(self.names[i] for i in columns))


def active_columns(model: TorqueModel) -> NDArray[np.bool_]:
    """(n, p) which parameters a joint's torque can depend on; the other columns of its rows are zero by structure."""
    q, dq, ddq = np.random.default_rng(0).uniform(-1, 1, (3, 16, model.robot.n))
    return np.asarray(np.any(model.regressor(q, dq, ddq) != 0, axis=0))


def observe(
    model: TorqueModel, states: States, tau: Array, selection: Selection, window: tuple[int, int], series: int = 0
) -> LinearSystem:
    """The equations of one record: W of the motion and Y of the torque, filtered and decimated in parallel (10)-(13)."""
    n, p = model.robot.n, len(model.parameter_names)
    active = active_columns(model)
    flat = np.flatnonzero(active.ravel())

    def columns(start: int, stop: int) -> Array:
        part = slice(start, stop)
        slip = None if states.slip is None else states.slip[part]
        W = model.regressor(states.q[part], states.dq[part], states.ddq[part], slip)
        return np.hstack([W.reshape(-1, n * p)[:, flat], tau[part]])

    reduced = selection.reduce(window, columns)
    moving = selection.moving(states.dq, window)
    W, y, joint, index = [], [], [], []
    for j in range(n):
        used = np.flatnonzero(moving[:, j])
        block = np.zeros((used.size, p))
        block[:, active[j]] = reduced[used][:, np.flatnonzero(flat // p == j)]
        W.append(block)
        y.append(reduced[used, flat.size + j])
        joint.append(np.full(used.size, j))
        index.append(used)
    joints = np.concatenate(joint)
    return LinearSystem(
        np.vstack(W),
        np.concatenate(y),
        joints,
        np.full(joints.size, series),
        np.concatenate(index),
        model.parameter_names,
        n,
        selection.decimator.correlation,
    )


def stack(systems: Sequence[LinearSystem]) -> LinearSystem:
    """Several experiments as one system, the equations of each joint still together (14)."""
    if len(systems) == 1:
        return systems[0]
    order = np.argsort(np.concatenate([system.joint for system in systems]), kind="stable")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(system, name) for system in systems])[order]
        for name in ("W", "y", "joint", "series", "index")
    }
    return replace(systems[0], **joined)
