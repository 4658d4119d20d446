"""What is known at the end of an iteration, for the verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from didim.identification.problem import ClosedLoopProblem
from didim.identification.rules import Iterate
from didim.identification.solve import Outcome
from didim.identification.stopping import BEYOND_NOISE
from didim.regression.least_squares import Solution
from didim.results.doubts import NEGLIGIBLE
from didim.results.formatting import joint_label
from didim.results.status import Status

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known at the end of an iteration."""

    problem: ClosedLoopProblem
    outcome: Outcome
    solution: Solution
    """Of the last iterate's equations."""
    error_at: Callable[[float], float]
    """The torque error, rms over the joints, of a loop with another bandwidth."""
    error_with_other_reference: Callable[[], tuple[float, float] | None] = lambda: None
    """The same law with or without velocity reference: that setting and its torque error."""
    needs_loop: bool = True
    """Whether a simulated loop that does not reproduce the record is an error: not of IV."""

    @property
    def iterate(self) -> Iterate:
        """Where the iteration ended."""
        return self.outcome.iterate

    @property
    def converged(self) -> bool:
        """Whether the iteration settled."""
        return self.outcome.reason.status is Status.CONVERGED

    @property
    def label(self) -> Callable[[int], str]:
        """Joints by number and name."""
        return partial(joint_label, self.problem.model)

    @property
    def estimates_gains(self) -> bool:
        """Whether gains are unknowns."""
        return self.problem.loop.unknown_gains is not None

    @property
    def is_open_loop(self) -> bool:
        """Whether the recorded torque drove the simulations."""
        return not self.problem.records.is_closed

    @property
    def residual(self) -> Array:
        """(n,) fraction of each joint's torque that is unexplained."""
        return self.iterate.evaluation.by_joint[: self.problem.records.n]

    @cached_property
    def noise(self) -> Array:
        """(n,) fraction of each joint's torque that is noise; 0: unknown."""
        return self.problem.noise(self.iterate.evaluation, self.iterate.window)

    @property
    def over_noise(self) -> Array:
        """(n,) how many times the noise is unexplained; 0: the noise is not known."""
        return self.residual / np.where(self.noise > 0, self.noise, np.inf)

    @cached_property
    def worst_joint(self) -> int | None:
        """The joint whose torque is least explained, beyond the noise; None: all are explained."""
        if self.problem.records.outputs[0] != "tau":
            return None  # of positions, the encoder's error is not known here
        residual, noise = self.residual, self.noise
        j = int((residual / np.maximum(noise, 1e-12)).argmax())
        return None if residual[j] < max(BEYOND_NOISE * noise[j], NEGLIGIBLE) else j

    @property
    def excess(self) -> str:
        """What is unexplained of that joint."""
        j = self.worst_joint
        assert j is not None
        noise = f"noise is {100 * self.noise[j]:.2g} %" if self.noise[j] else "noise is not known"
        part = f"{100 * self.residual[j]:.3g} % of the torque of {self.label(j)}"
        return f"{part} is unexplained, where {noise}"
