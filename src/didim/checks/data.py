"""`CheckData`: one record, with what the checks need of it computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.model import DynamicModel
from didim.results.formatting import joint_label
from didim.signals.bandwidth import motion_band
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.filters import reach
from didim.signals.resample import period_of, regular
from didim.signals.states import States, measured_states, reference_states

Array = NDArray[np.float64]

CHECK_CUTOFF = 20.0
"""Hz, of the filter of measured positions, where none is given."""


@dataclass(frozen=True, eq=False)
class CheckData:
    """A record, the robot and the loop that it belongs to."""

    model: DynamicModel
    record: Experiment
    controller: Controller | None
    cutoff: float | None
    """Hz, of the filter of measured positions; None: none."""
    decimated: int = 1
    """The factor by which the record will be decimated."""
    followed: frozenset[str] = frozenset()
    """Settings that are on: nobody is advised to turn them on."""

    @cached_property
    def even(self) -> Experiment:
        """The record on a regular clock."""
        return regular(self.record)

    @property
    def rate(self) -> float:
        """Hz."""
        return 1.0 / period_of(self.even.t)

    @cached_property
    def _cutoff(self) -> float | None:
        """Hz, or None where the record is too slow or too short for the filter."""
        least = None if self.cutoff is None else min(self.cutoff, 0.4 * self.rate)
        return (
            least
            if least is not None and self.even.t.size > max(50, 2 * self.rate / least)
            else None
        )

    @property
    def has_torque(self) -> bool:
        """Whether torques were measured."""
        return self.record.tau is not None

    @cached_property
    def tau(self) -> Array:
        """(N, n) torques as they were logged."""
        return measured_torque(self.record, "this check")

    @cached_property
    def even_tau(self) -> Array:
        """(M, n) torques on the regular clock."""
        return measured_torque(self.even, "this check")

    @property
    def is_measured(self) -> bool:
        """Whether the motion is measured, not that of the reference."""
        return self.record.q is not None

    @cached_property
    def states(self) -> States | None:
        """The measured motion, else that of the reference, else nothing."""
        if self.is_measured:
            return measured_states(self.even, self._cutoff)
        return None if self.record.q_ref is None else reference_states(self.even)

    @cached_property
    def inner(self) -> slice:
        """Samples that filtering does not spoil."""
        edge = 2 * max(1, reach(self.rate, self._cutoff)) if self.is_measured else 0
        count = self.even.t.size
        return slice(edge, count - edge) if count > 4 * edge else slice(0, count)

    @cached_property
    def speeds(self) -> Array | None:
        """|dq| (K, n) at those samples."""
        return None if self.states is None else np.abs(self.states.dq[self.inner])

    @cached_property
    def band(self) -> float:
        """Hz below which nearly all of the velocity lies, over all joints; 0 where nothing moves or
        is known.
        """
        if self.states is None:
            return 0.0
        return motion_band(self.states.dq[self.inner], self.rate)

    def label(self, j: int | np.integer[Any]) -> str:
        """Name of joint j for messages."""
        return joint_label(self.model, int(j))

    def listed(self, chosen: Iterable[int | np.integer[Any]]) -> str:
        """Some joints by name."""
        return ", ".join(map(self.label, chosen))
