"""From any coefficients to a motion that meets every limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from didim.design.bursts import Burst, Successive
from didim.design.motions import Motions
from didim.design.objective import Objective
from didim.design.verify import Checked, Verification, least_margins
from didim.errors import InputError
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

SHRINK = 0.985
"""Factor on a motion that does not meet a limit which is not linear in it."""

SHRINK_ALL = 0.9
"""Factor on bursts where no joint of its own can be shrunk."""

LEAST = 0.1
"""Factor at which a motion is given up."""

BISECTIONS = 8
"""For the factor on a random motion."""


def scaled(objective: Objective, x: Array, pose: Array) -> Array:
    """x within the limits on the grid: each joint as wide as its own limits allow, then all shrunk
    towards the pose until torques and clearances fit.
    """
    motions, limits = objective.motions, objective.motions.limits
    motion = motions.at(x)
    table = x.reshape(motions.n, -1).copy()
    offset = motions.split(x)[1]
    room = np.minimum(*np.abs(limits.position.T - offset))
    peaks = np.array(
        [np.abs(each).max(axis=0) for each in (motion.q - offset, *motion[1:])]
    )  # fmt: skip
    allowed = np.array([room, limits.velocity, limits.acceleration, limits.jerk])
    factor = np.min(allowed / np.maximum(peaks, 1e-12), axis=0)
    table[:, : motions.basis.count] *= factor[:, None]
    wide = table.ravel()
    if objective.is_met(wide):
        return wide
    small, large = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (small + large)
        if objective.is_met(motions.towards(wide, pose, middle)):
            small = middle
        else:
            large = middle
    return motions.towards(wide, pose, max(small, LEAST))


@dataclass(frozen=True, eq=False)
class BackOff:
    """Shrinks a motion towards a pose until it meets its limits at every instant."""

    motions: Motions
    verification: Verification
    pose: Array
    """(n,) at rest within the limits."""

    def feasible(self, x: Array) -> tuple[Array, Checked]:
        """The largest share of the motion that meets every limit: joints that exceed a limit of
        their own are shrunk alone, all of them for a clearance. Refused where too little is left.
        """
        factors = np.ones(self.motions.n)
        while True:
            tried = self.motions.towards(x, self.pose, factors)
            sampled, seconds = partial(self.motions.sampled, tried), self.motions.basis.duration
            margins = self.verification.reference(sampled, seconds)
            if min(margins.values()) >= 0:
                checked = self.verification.check(self.motions.trajectory(tried), margins)
                if checked.is_feasible:
                    return tried, checked
                margins = checked.margins
            factors = factors * shrinking(margins, self.verification)
            if factors.min() < LEAST:
                name = min(margins, key=lambda each: margins[each])
                raise InputError(
                    f"No plan meets the limits: the {name} binds, even for a motion of "
                    f"{100 * LEAST:.0f} % of the range. Relax it, lengthen the duration or choose "
                    "another start."
                )


@dataclass(frozen=True, eq=False)
class Ending:
    """Bursts that follow a feasible motion, shrunk until the whole meets its limits."""

    main: AnalyticTrajectory
    checked: Checked
    """Of the motion alone."""
    verification: Verification

    @property
    def pose(self) -> Array:
        """(n,) where the motion ends."""
        return self.main.sample([self.main.span[1]])[0][0]

    def feasible(self, bursts: Sequence[Burst]) -> tuple[AnalyticTrajectory, Checked] | None:
        """The motion with as much of the bursts as there can be; None: there can be nothing."""
        factors = np.ones(self.main.n)
        while True:
            shrunk = [each.scaled(factors) for each in bursts]
            if any(each.stands for each in shrunk):
                return None
            whole, margins = self._followed_by(shrunk)
            if min(margins.values()) >= 0:
                checked = self.verification.check(whole, margins)
                if checked.is_feasible:
                    return whole, checked
                margins = checked.margins
            step = shrinking(margins, self.verification)
            if np.array_equal(step * factors, factors):  # others move a joint that stands
                step = np.full(factors.size, SHRINK_ALL)
            factors = factors * step
            factors[factors < LEAST] = 0.0

    def _followed_by(self, bursts: Sequence[Burst]) -> tuple[AnalyticTrajectory, dict[str, float]]:
        """The whole trajectory, and the margins of its parts."""
        whole, margins = self.main, self.checked.margins
        for burst in bursts:
            whole = Successive(whole, burst.trajectory(self.pose))
            sampled = partial(burst.sampled, self.pose)
            margins = least_margins(margins, self.verification.reference(sampled, burst.duration))
        return whole, margins


def shrinking(margins: Mapping[str, float], verification: Verification) -> Array:
    """(n,) factors for the limits that are exceeded."""
    factors, joints = np.ones(verification.model.robot.n), verification.joints
    for name, margin in margins.items():
        if margin < 0:
            at = joints.get(name, slice(None))
            factor = min(SHRINK, 1.0 + 0.5 * max(margin, -0.2))
            factors[at] = np.minimum(factors[at], factor)
    return factors
