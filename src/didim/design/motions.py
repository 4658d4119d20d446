"""The motions that are searched: coefficients x of order one, and the motion on a grid of times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from didim.design.basis import MotionBasis
from didim.design.limits import Limits
from didim.signals.trajectories import AnalyticTrajectory

Array = NDArray[np.float64]

SAMPLES_PER_PERIOD = 6
"""Of the fastest shape, on the grid of the search."""

MIN_SAMPLES = 240


class Sampled(NamedTuple):
    """A motion at the times of a grid, each (N, n); or the derivative of a number by it."""

    q: Array
    dq: Array
    ddq: Array
    dddq: Array


@dataclass(frozen=True, eq=False)
class Motions:
    """x (n, m + 1), or (n, m) where the start is given, flattened: the coefficients of each joint,
    each over what the limits allow of its shape alone, then the offset over half the range.
    """

    basis: MotionBasis
    limits: Limits
    start: Array | None = None
    """(n,) where the motion begins; None: anywhere."""

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.limits.velocity.size)

    @property
    def size(self) -> int:
        """Length of x."""
        return self.n * (self.basis.count + (self.start is None))

    @cached_property
    def t(self) -> Array:
        """(N,) the grid: the middles of equal intervals."""
        count = max(MIN_SAMPLES, int(SAMPLES_PER_PERIOD * self.basis.fastest * self.basis.duration))
        return (np.arange(count) + 0.5) / count * self.basis.duration

    @cached_property
    def middle(self) -> Array:
        """(n,) of the position limits."""
        return self.limits.position.mean(axis=1)

    @cached_property
    def half(self) -> Array:
        """(n,) half the range of the positions."""
        return 0.5 * np.diff(self.limits.position, axis=1)[:, 0]

    @cached_property
    def _shapes(self) -> Array:
        """(4, N, m) on the grid."""
        return self.shapes(self.t)

    def shapes(self, t: Array) -> Array:
        """(4, N, m) of the basis, less their first position where the start is given."""
        shapes = self.basis.shapes(t)
        if self.start is not None:
            shapes[0] -= self.basis.shapes(np.zeros(1))[0]
        return shapes

    @cached_property
    def scale(self) -> Array:
        """(n, m) coefficients at which a shape alone meets the first limit of a joint."""
        fine = np.linspace(0.0, self.basis.duration, 4 * self.t.size)
        peaks = np.abs(self.basis.shapes(fine)).max(axis=1)
        limits = [self.half, self.limits.velocity, self.limits.acceleration, self.limits.jerk]
        with np.errstate(divide="ignore"):
            each = np.array(limits)[:, :, None] / peaks[:, None, :]
        return np.asarray(each.min(axis=0))

    def split(self, x: Array) -> tuple[Array, Array]:
        """Coefficients (n, m) and offset (n,)."""
        table = x.reshape(self.n, -1)
        coefficients = table[:, : self.basis.count] * self.scale
        if self.start is not None:
            return coefficients, self.start
        return coefficients, self.middle + self.half * table[:, -1]

    def at(self, x: Array) -> Sampled:
        """The motion on the grid."""
        coefficients, offset = self.split(x)
        q, dq, ddq, dddq = self._shapes @ coefficients.T
        return Sampled(q + offset, dq, ddq, dddq)

    def sampled(self, x: Array, t: Array) -> Array:
        """(4, N, n) the motion and its derivatives at times (N,)."""
        coefficients, offset = self.split(x)
        found = self.shapes(t) @ coefficients.T
        found[0] += offset
        return np.asarray(found)

    def slope(self, by: Sampled) -> Array:
        """Of a number by x, from its derivatives by the motion on the grid."""
        table = (
            sum(each.T @ shapes for each, shapes in zip(by, self._shapes, strict=True)) * self.scale
        )
        if self.start is not None:
            return np.asarray(table).ravel()
        return np.column_stack([table, self.half * by.q.sum(axis=0)]).ravel()

    def trajectory(self, x: Array) -> AnalyticTrajectory:
        """The motion itself."""
        coefficients, offset = self.split(x)
        if self.start is not None:
            offset = offset - coefficients @ self.basis.shapes(np.zeros(1))[0, 0]
        return self.basis.trajectory(coefficients, offset)

    def towards(self, x: Array, pose: Array, factor: float | Array) -> Array:
        """x of the motion shrunk by one factor, or one for each joint (n,), towards a pose (n,):
        pose + factor (q - pose).
        """
        factors = np.broadcast_to(np.asarray(factor, dtype=float), (self.n,))
        table = factors[:, None] * x.reshape(self.n, -1)
        if self.start is None:
            table[:, -1] += (1.0 - factors) * (pose - self.middle) / self.half
        return table.ravel()
