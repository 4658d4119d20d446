"""Pinocchio as the independent side: the same URDF, in the joint order and parameter frames of a
didim robot.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from didim.robot import Robot
from didim.robot.inertia import transfer_matrix

_FROM_PINOCCHIO = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]
"""Pinocchio lists m, mc, Ixx Ixy Iyy Ixz Iyz Izz; these indices bring them to XX XY XZ YY YZ ZZ MX
MY MZ M.
"""


class Peer:
    """Rigid-body functions of one sample, arguments and results in the order of
    `robot.joint_names`.
    """

    def __init__(self, urdf: str, robot: Robot) -> None:
        self.model = pin.buildModelFromXML(urdf)
        self.model.gravity.linear = np.array(robot.gravity)
        self.data = self.model.createData()
        self.ids = [self.model.getJointId(name) for name in robot.joint_names]
        self.v = [self.model.idx_vs[i] for i in self.ids]
        self.turns = [transfer_matrix(frame[:3, :3].T, np.zeros(3)) for frame in robot.link_frames]

    def _q(self, q: np.ndarray) -> np.ndarray:
        full = pin.neutral(self.model)
        for i, value in zip(self.ids, q, strict=True):
            at = self.model.idx_qs[i]
            if self.model.nqs[i] == 2:
                full[at : at + 2] = np.cos(value), np.sin(value)
            else:
                full[at] = value
        return full

    def _in_peer_order(self, x: np.ndarray) -> np.ndarray:
        full = np.zeros(self.model.nv)
        full[self.v] = x
        return full

    def torque(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        return pin.rnea(
            self.model, self.data, self._q(q), self._in_peer_order(dq), self._in_peer_order(ddq)
        )[self.v]

    def acceleration(self, q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pin.aba(
            self.model, self.data, self._q(q), self._in_peer_order(dq), self._in_peer_order(tau)
        )[self.v]

    def derivatives(
        self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """d tau/d q and d tau/d dq, (n, n)."""
        by_q, by_dq, _ = pin.computeRNEADerivatives(
            self.model, self.data, self._q(q), self._in_peer_order(dq), self._in_peer_order(ddq)
        )
        return by_q[np.ix_(self.v, self.v)], by_dq[np.ix_(self.v, self.v)]

    def inertia(self, q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.model, self.data, self._q(q))
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.v, self.v)]

    def regressor(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """(n, 10 n) in didim's parameters: W_peer phi_peer = W phi with phi = turn @ phi_peer."""
        W = pin.computeJointTorqueRegressor(
            self.model, self.data, self._q(q), self._in_peer_order(dq), self._in_peer_order(ddq)
        ).reshape(self.model.nv, -1)
        blocks = []
        for i, turn in zip(self.ids, self.turns, strict=True):
            own = W[self.v, 10 * (i - 1) : 10 * i][:, _FROM_PINOCCHIO]
            blocks.append(own @ np.linalg.inv(turn))
        return np.hstack(blocks)
