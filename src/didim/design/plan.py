"""`Plan`: a trajectory to record, what it will tell, and how far it stays inside its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.design.files import save
from didim.design.limits import Limits
from didim.design.summary import summary
from didim.dynamics.model import BaseModel
from didim.signals.trajectories import AnalyticTrajectory
from didim.simulation.motion import Motion

if TYPE_CHECKING:
    from didim.design.known import Source

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plan:
    """What `didim.excite` returns. The trajectory meets every limit of `limits`."""

    model: BaseModel
    """What it is designed for; `model.robot` is the robot."""
    trajectory: AnalyticTrajectory
    """From rest to rest; `trajectory.sample(t)` gives q, dq, ddq, `trajectory.span` its times."""
    method: str
    """The method whose covariance was designed: "IDIM" or "DIDIM"."""
    names: tuple[str, ...]
    """(b,) the base parameters that a record of the plan determines, then unknown gains such as
    "kp1".
    """
    values: Array
    """(b,) their nominal values, SI; nan where the description gives none."""
    sigma: Array
    """(b,) predicted standard deviations, SI, with what is known already."""
    information: Array
    """(b, b) of them, with what is known already: the inverse of the predicted covariance."""
    own_information: Array
    """(b, b) of a record of the plan alone."""
    noise: Array
    """(n,) standard deviation of the torque noise that `sigma` rests on, N.m or N, per sample."""
    rate: float
    """Samples per second of the record that `sigma` rests on."""
    limits: Limits
    margins: Mapping[str, float]
    """How far the reference and the motion in the loop stay inside each limit, as a fraction of it:
    "position of joint_1", "velocity of joint_1", ..., and the names of the clearances, which are a
    fraction of the largest clearance on the way. Never negative.
    """
    motion: Motion
    """At 1 kHz: simulated in the loop, or along the trajectory where no loop is given."""
    loop: Controller | None = None
    gains_unknown: bool = False
    seed: int = 0
    sigma_random: Array | None = None
    """(b,) those of the best of the random plans within the same limits; None: not compared."""
    sigma_before: Array | None = None
    """(b,) those of what the plan adds to, infinite where that tells nothing; None: nothing was
    known.
    """
    after: tuple[Source, ...] = ()
    """The estimates, records and plans that it adds to."""
    stopped: bool = False
    """Whether it was stopped on request: the best plan until then."""
    messages: tuple[str, ...] = ()
    """What the reader should know: limits by default, generic inertias, the limits that bind."""
    seconds: float = 0.0
    """That the design took."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Further arguments of `didim.excite`, for the record."""

    def __repr__(self) -> str:
        start, end = self.trajectory.span
        least = min(self.margins.values(), default=1.0)
        return (
            f"Plan({self.model.robot.name!r}, {end - start:g} s for {self.method}, "
            f"{len(self.names)} unknowns, least margin {100 * least:.3g} %)"
        )

    def summary(self) -> str:
        """What is planned, what it will tell and which limits bind, as text."""
        return summary(self)

    def save(
        self, path: str | PathLike[str], rate: float | None = None, overwrite: bool = False
    ) -> Path:
        """Write the trajectory: .csv, .json, or a ROS 2 JointTrajectory as .yaml or .mcap, with
        `rate` samples per second (default: the controller's).
        """
        return save(self, path, rate, overwrite)

    def report(self, path: str | PathLike[str], overwrite: bool = False) -> Path:
        """Write an HTML page: margins, predicted sigma, pictures of each joint and in space."""
        from didim.report.plan.page import write_plan_report

        return write_plan_report(self, path, overwrite)

    @property
    def duration(self) -> float:
        """s."""
        start, end = self.trajectory.span
        return end - start

    @property
    def relative_sigma(self) -> Array:
        """(b,) percent of the nominal values; infinite where these are zero or unknown."""
        size = np.where(np.isfinite(self.values), np.abs(self.values), 0.0)
        with np.errstate(divide="ignore"):
            return np.where(size > 0, 100.0 * self.sigma / np.where(size > 0, size, 1.0), np.inf)

    @property
    def binding(self) -> tuple[str, ...]:
        """The limits with the smallest margins, which keep the plan from telling more."""
        close = [name for name, margin in self.margins.items() if margin < 0.05]
        return tuple(sorted(close, key=lambda name: self.margins[name]))
