"""`Motion`: what a simulation returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.dynamics.torque import Signals, TorqueModel
from didim.signals.states import States

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """A simulated motion at the requested times, up to where it was completed; all numbers are
    finite.

    Implements (25), (26).
    """

    t: Array
    """(N,) s."""
    q: Array
    """(N, n) positions, rad or m."""
    dq: Array
    """(N, n) velocities."""
    ddq: Array
    """(N, n) accelerations, from the model at that instant."""
    tau: Array
    """(N, n) joint torques, N.m or N: the regressor at this motion and slip, times the
    parameters.
    """
    slip: Array
    """(N, c) Coulomb torque of each contact over its limit."""
    stuck: NDArray[np.bool_]
    """(N, c) whether the contact sticks: |slip| < 1, or it is slower than 1e-9 rad/s or m/s."""
    status: str = "completed"
    """"completed", "infeasible" (inertia matrix not positive definite), "diverged", or
    "cancelled".
    """
    message: str = ""
    """What went wrong, when and at which joint."""
    signals: Mapping[str, Array] = field(default_factory=dict)
    """What effects need beside the motion: logged channels (N,), and "load" (N, n)."""

    @property
    def completed(self) -> bool:
        """Whether the simulation reached the last requested time."""
        return self.status == "completed"

    @property
    def states(self) -> States:
        """What a regressor is computed from."""
        return States(self.q, self.dq, self.ddq, self.slip, self.signals)

    def with_signals(
        self, model: TorqueModel, parameters: ArrayLike, given: Signals | None
    ) -> Motion:
        """The motion with the channels that the model's effects need, and the loads."""
        if not model.channels and not model.loaded:
            return self
        rows = self.t.size
        signals = {name: np.asarray((given or {})[name])[:rows] for name in model.channels}
        if model.loaded:
            motion = self.q, self.dq, self.ddq, parameters, self.slip
            signals["load"] = model.loads(*motion, signals)
        return replace(self, signals=signals)

    def __repr__(self) -> str:
        note = "" if self.completed else f", {self.status}: {self.message}"
        return f"Motion({self.t.size} samples of {self.q.shape[1]} joints{note})"
