"""What uncertain drive gains do to a load: torques that are recorded too large by a factor make the
load wrong too.

A factor 1 + e_j on the torque of joint j multiplies the part of the load's torque that joint j
feels. What least squares makes of that, along the motion of the loaded records and with the
friction that is estimated beside, is the change of phi. That the empty robot is wrong by the same
factors cancels as far as both records move alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.payload.difference import Difference
from didim.regression.least_squares import least_squares
from didim.regression.system import stack
from didim.results.estimate import Estimate
from didim.results.load_seen import compared_system

Array = NDArray[np.float64]


def scale_slopes(fitted: Estimate, found: Difference, phi: Array) -> Array:
    """(10, n) d phi / d e of the torque of each joint, for a load phi (10,), along the records that
    an estimate was fitted to; zero where phi is not identified.
    """
    model, n = fitted.model, fitted.model.robot.n
    columns = np.flatnonzero(~found.hidden)
    into = np.hstack([found.B[:, columns], np.eye(len(found.B))[:, found.varies]])
    pairs = enumerate(fitted.experiments)
    compare = fitted.predictor.compare
    system = stack([compared_system(model, compare(record), k) for k, record in pairs])
    names = tuple(str(i) for i in range(into.shape[1]))
    system = replace(system, W=system.W @ into, names=names)
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
