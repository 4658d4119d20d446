"""`Point`: an accepted iterate of DIDIM, with its simulation, its linear system and what least
squares makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.torque import TorqueModel
from didim.identification.closed_loop import Simulated
from didim.identification.least_squares import Solution
from didim.identification.system import LinearSystem

Array = NDArray[np.float64]

SCALE = 50.0
"""Changes are measured against |chi_i| or this many sigma_i, whichever is larger: many parameters
start at zero.
"""


@dataclass(frozen=True, eq=False)
class Point:
    """chi^k and all that follows from it."""

    parameters: Array
    """(b,) chi^k."""
    simulated: Simulated
    loop: Controller
    """Retuned for chi^k (59)."""
    system: LinearSystem
    """Y = W chi + rho on the simulated states (48)."""
    solution: Solution
    """Of that system: chi^(k+1), unless a guard acts."""
    inertia: Array
    """(n,) J of (51)."""
    window: tuple[tuple[int, int], ...]
    """First and one past the last sample used, of each record."""

    @property
    def variance(self) -> float:
        """sigma_rho^2 of (17), on weighted rows, for chi^k itself."""
        rho = self.solution.weights * self.system.residual(self.parameters)
        return float(rho @ rho) / max(rho.size - self.solution.rank, 1)

    @property
    def scale(self) -> Array:
        """(b,) size of each parameter: its value, or a number of sigma where it is not told from
        zero.
        """
        scale = np.maximum(
            np.abs(self.parameters), SCALE * np.sqrt(np.diag(self.solution.inverse) * self.variance)
        )
        return np.where(scale > 0, scale, 1.0)

    @property
    def joint_weights(self) -> Array:
        """(n,) mean weight of each joint's rows."""
        weights, joint = self.solution.weights, self.system.joint
        return np.array(
            [
                np.mean(weights[joint == j]) if np.any(joint == j) else 0.0
                for j in range(self.system.n)
            ]
        )


def gains_of(loop: Controller, model: TorqueModel, J: Array) -> dict[str, Array]:
    """The gains that a loop uses, each (n,), for inertias J (n,)."""
    g = np.diag(loop.drive(model))
    gains = loop.gains(model.robot.n, np.where(g != 0, g, 1.0), J)
    return {
        name: getattr(gains, name)
        for name in ("kp", "kv", "ki", "kiv")
        if np.any(getattr(gains, name))
    }
