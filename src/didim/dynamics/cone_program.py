"""A convex quadratic function over the physically consistent set, and a point of its interior-point
method.

    minimise  1/2 |R u - target|^2 + c'u    where theta0 + T u lies in the set, and some u >= 0

Beside each pseudo-inertia P stands a multiplier Z, beside each positive number x a multiplier z. On
the central path P Z = mu 1 and x z = mu; at the minimum mu = 0. The trace terms of the barrier in
`consistent.py` are added with a small weight, the pull: masses that the function does not depend
on, or would rather have infinite, stay bounded and near the prior.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.consistent import Consistent

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Region:
    """Where u lies: theta = theta0 + T u inside the set, and some of u positive."""

    consistent: Consistent
    origin: Array
    """(p,) theta0."""
    directions: Array | None = None
    """(p, m) T; None: the identity."""
    bounded: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Indices of u that are positive; only where T is given."""

    def move(self, u: Array) -> Array:
        """(p,) T u."""
        return u if self.directions is None else np.asarray(self.directions @ u)

    def theta(self, u: Array) -> Array:
        """(p,) the robot."""
        return self.origin + self.move(u)

    def single(self, theta: Array, u: Array) -> Array:
        """(k,) the positive numbers of the robot and of u, or their changes."""
        return np.concatenate([theta[self.consistent.positive], u[self.bounded]])


@dataclass(frozen=True, eq=False)
class Quadratic:
    """1/2 |R u - target|^2 + c'u."""

    R: Array
    """(k, m)."""
    target: Array
    """(k,)."""
    linear: Array
    """(m,) c."""

    def value(self, u: Array) -> float:
        """At u."""
        rest = self.R @ u - self.target
        return 0.5 * float(rest @ rest) + float(self.linear @ u)


@dataclass(frozen=True, eq=False)
class Point:
    """u inside the region, and the multipliers."""

    cost: Quadratic
    region: Region
    u: Array
    """(m,)."""
    Z: Array
    """(n, 4, 4) of the pseudo-inertias."""
    z: Array
    """(k,) of the positive numbers."""
    pull: float
    """Weight of the trace terms."""

    @cached_property
    def theta(self) -> Array:
        """(p,) the robot."""
        return self.region.theta(self.u)

    @cached_property
    def bodies(self) -> Array:
        """(n, 4, 4) P."""
        return self.region.consistent.bodies(self.theta)

    @cached_property
    def x(self) -> Array:
        """(k,) the positive numbers."""
        return self.region.single(self.theta, self.u)

    @cached_property
    def products(self) -> float:
        """Sum of tr(P Z) and x z: by how much the function, with its trace terms, exceeds its least
        value where the multipliers meet their equations.
        """
        return float(np.einsum("iab,iba->", self.bodies, self.Z) + self.x @ self.z)

    @cached_property
    def mu(self) -> float:
        """Mean of the products."""
        return self.products / (4 * len(self.Z) + self.z.size)
