"""How long a loop needs to forget its initial state (56), friction included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.control.linear import linearise_along
from didim.dynamics.torque import TorqueModel
from didim.validation import per_joint

Array = NDArray[np.float64]

_POSES = 7
"""Configurations along the reference at which the loop is linearised."""


def transient_of(model: TorqueModel, parameters: Array, loop: Controller, poses: Array) -> float:
    """Seconds in which the loop forgets its initial state, linearised at some of the configurations
    `poses` (K, n): 10 over its slowest pole with friction, at least 5 / omega_n.
    """
    least = 0.0
    if loop.by_poles:
        frequency = np.asarray(loop.natural_frequency)
        least = 5.0 / float(per_joint(frequency, "natural_frequency", model.robot.n).min())
    period = 1.0 if loop.rate is None else 1.0 / loop.rate
    chosen = poses[np.linspace(0, len(poses) - 1, _POSES).astype(int)]
    loops = linearise_along(model, parameters, loop, chosen)
    rates = [each.slowest / period for each in loops if each is not None and each.stable]
    return max(least, 10.0 / min(rates)) if rates else max(least, 1.0)
