"""`Suspect`: something that a model or its loop may lack, as a torque that is zero now.

An effect of the robot adds a torque to its own motion, tau = W chi + theta s. A term of the control
law adds to the command, tau = g v + theta c. Both are functions of time along the motion that the
estimate itself has, so that one simulation tests them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import Law
from didim.dynamics.model import BaseModel
from didim.results.lack_of_fit import Remedy
from didim.signals.filters import integral
from didim.signals.states import States

Array = NDArray[np.float64]
Torques = dict[int, Array]
"""From a joint to its torque (N,), N.m or N."""
Signals = Callable[["Course"], list[Torques]]
"""The torques of each column of a suspect along a record."""


@dataclass(frozen=True, eq=False)
class Course:
    """One record as the estimate has it: simulated, or along the measured motion."""

    model: BaseModel
    parameters: Array
    """(b,)."""
    t: Array
    """(N,) s."""
    states: States
    tau: Array
    """(N, n) torque of the model."""
    record: int = 0
    """Which of the records, from 0."""
    reference: tuple[Array, Array, Array] | None = None
    """(N, n) positions, velocities and accelerations of the reference; None: no loop."""
    law: Law | None = None
    """The simulated law; None: no loop."""

    whole: Course | None = None
    """The record that this is a part of, where it is one."""
    start: int = 0
    """The sample of that record that it begins with."""

    def part(self, start: int, stop: int) -> Course:
        """The samples from start to stop."""
        at = slice(start, stop)
        states, reference = self.states.at(at), self.reference
        if reference is not None:
            reference = reference[0][at], reference[1][at], reference[2][at]
        return replace(
            self, t=self.t[at], states=states, tau=self.tau[at], reference=reference,
            whole=self, start=start,
        )  # fmt: skip

    def _own(self, signal: Array) -> Array:
        """Of a signal of the record, the samples of this part."""
        return signal[self.start : self.start + self.t.size]

    @cached_property
    def integrals(self) -> tuple[Array, Array, Array, Array]:
        """(N, n) of e, dq, dq_r and ddq_r, from the first sample of the record."""
        if self.whole is not None:
            e, dq, dq_r, ddq_r = map(self._own, self.whole.integrals)
            return e, dq, dq_r, ddq_r
        assert self.reference is not None
        q_r, dq_r, ddq_r = self.reference
        signals = q_r - self.states.q, self.states.dq, dq_r, ddq_r
        e, dq, dq_r, ddq_r = (integral(self.t, each) for each in signals)
        return e, dq, dq_r, ddq_r

    @cached_property
    def later_torque(self) -> Array:
        """(N, n) what a delay of the command adds to the torque, N.m/s or N/s: of a sampled law,
        by the difference to the command of the sample before.
        """
        if self.whole is not None:
            return self._own(self.whole.later_torque)
        period = 0.0 if self.law is None else self.law.period
        if period > 0:
            return (earlier(self.t, self.tau, period) - self.tau) / period
        return np.asarray(-np.gradient(self.tau, self.t, axis=0))

    @cached_property
    def signals(self) -> dict[str, Array]:
        """Channels and loads, zero where the states have none."""
        return {**self.model.no_signals(self.t.size), **self.states.signals}

    @cached_property
    def load(self) -> Array:
        """(N, n) torque without the joints' own friction and offsets."""
        model, states = self.model, self.states
        phi = model.standard(self.parameters).copy()
        phi[[entry.column for entry in model.layout.entries if entry.own]] = 0.0
        motion = states.q, states.dq, states.ddq
        return model.full.inverse_dynamics(*motion, phi, states.slip, self.signals)

    @cached_property
    def by_position(self) -> Array:
        """(N, n, n) d tau/d q, row: torque."""
        motion = self.states.q, self.states.dq, self.states.ddq
        return self.model.derivatives(*motion, self.parameters, self.signals)[0]


@dataclass(frozen=True, eq=False)
class Suspect:
    """One candidate, of one or a few columns."""

    name: str
    """Such as "kp1", "dFs2" or "delay"."""
    group: str
    """Suspects of a group are tested together first."""
    remedy: Remedy
    joint: int | None = None
    """From 0; None: it is no joint's own."""
    unit: str = ""
    columns: int = 1
    torque: Signals | None = None
    """s of each column: what the robot needs more."""
    command: Signals | None = None
    """c of each column: what the controller adds, as torque g v."""
    directions: Mapping[str, float] = field(default_factory=dict)
    """Gains whose sensitivities the simulation has itself, such as "kp1", with their weights: what
    one unit of the suspect adds to each.
    """
    effect: str = ""
    """Of the catalogue."""
    shapes: Mapping[str, float] = field(default_factory=dict)
    """Values of the effect's shapes that were assumed, by symbol."""
    tried: float = 1.0
    """Alternatives of which this is the best: its p-value counts as many times."""
    usual: bool = False
    """Whether it is added before anything else is tested and named last: many records have it, as a
    torque that a controller holds acts half a period late.
    """


def earlier(t: Array, signal: Array, by: float) -> Array:
    """The signal (N, n) `by` seconds earlier, linear between samples."""
    return np.column_stack([np.interp(t - by, t, each) for each in signal.T])


def on_joint(j: int, signal: Callable[[Course], Array]) -> Signals:
    """A torque (N,) on one joint."""
    return lambda course: [{j: signal(course)}]


def on_joints(torque: Array) -> Torques:
    """A torque (N, n) on all joints."""
    return {j: torque[:, j] for j in range(torque.shape[1])}
