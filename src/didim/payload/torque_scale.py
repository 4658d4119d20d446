"""What uncertain drive gains do to a load: torques that are recorded too large by a factor make the
load wrong too.

A factor 1 + e_j on the torque of joint j multiplies the part of the load's torque that joint j
feels. What least squares makes of that, along the motion of the loaded records and with the
friction that is estimated beside, is the change of phi. That the empty robot is wrong by the same
factors cancels as far as both records move alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.payload.difference import Difference
from didim.regression.least_squares import least_squares
from didim.regression.system import rows_of, stack
from didim.results.estimate import Estimate

Array = NDArray[np.float64]


def scale_slopes(loaded: Estimate, found: Difference, phi: Array) -> Array:
    """(10, n) d phi / d e of the torque of each joint, for a load phi (10,); zero where phi is not
    identified.
    """
    model, n = loaded.model, loaded.model.robot.n
    columns = np.flatnonzero(~found.hidden)
    into = np.hstack([found.B[:, columns], np.eye(len(found.B))[:, found.varies]])
    names = tuple(str(i) for i in range(into.shape[1]))
    systems = []
    for k, record in enumerate(loaded.experiments):
        rows = loaded.predictor.compare(record)
        motion = rows.motion
        signals = {**model.no_signals(len(motion.q)), **motion.signals}
        W = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip, signals)
        left = rows.y - rows.found
        systems.append(rows_of(W @ into, left, rows.counted, names, k, np.ones(1)))
    system = stack(systems)
    size = np.maximum(system.sizes, 1e-9 * system.sizes.max(initial=1e-300))
    weights = 1.0 / size[system.joint]
    inverse = least_squares(system, weights).inverse
    Z = system.W * weights[:, None]
    torque = Z[:, : columns.size] @ phi[columns]
    slopes = np.zeros((10, n))
    for j in range(n):
        own = np.where(system.joint == j, torque, 0.0)
        slopes[columns, j] = (inverse @ (Z.T @ own))[: columns.size]
    return slopes
