"""`SimulatedRobot`: the model and the loop of the simulations as functions of z, what is estimated
beside the base parameters: shapes of effects, then gains and delay of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from didim.control.law import BIAS, ZERO, Controller
from didim.control.simulated_loop import SimulatedLoop
from didim.dynamics.model import BaseModel
from didim.dynamics.shapes import Shapes
from didim.dynamics.torque import TorqueModel

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedRobot:
    """z (e,) is that of `Shapes`, then that of `SimulatedLoop`; both are zero at the start."""

    start: TorqueModel
    """The model at z = 0; its shapes that are not held are estimated."""
    loop: SimulatedLoop

    @cached_property
    def shapes(self) -> Shapes | None:
        """The shapes that are estimated; None: there are none."""
        has_some = isinstance(self.start, BaseModel) and self.start.layout.terms.free
        return Shapes(self.start) if has_some and isinstance(self.start, BaseModel) else None

    @property
    def shape_names(self) -> tuple[str, ...]:
        """(T,) the first unknowns of z."""
        return () if self.shapes is None else self.shapes.names

    @property
    def names(self) -> tuple[str, ...]:
        """Of all unknowns, as columns of the Jacobian have them: base parameters, then z."""
        return (*self.start.parameter_names, *self.shape_names, *self.loop.names)

    @property
    def spread(self) -> Array:
        """(e,) prior standard deviation of z about zero."""
        first = [] if self.shapes is None else [self.shapes.spread]
        return np.concatenate([*first, self.loop.spread])

    @property
    def longest_step(self) -> Array:
        """(e,) largest change of z in one step."""
        first = [] if self.shapes is None else [self.shapes.longest_step]
        return np.concatenate([*first, self.loop.longest_step])

    def factors(self, z: Array) -> Array:
        """(e,) by which sensitivities to shapes, gains and delay are those to z."""
        first = [] if self.shapes is None else [self.shapes.slopes(self.of_shapes(z))]
        return np.concatenate([*first, self.loop.column_factors(self.of_loop(z))])

    def of_shapes(self, z: Array) -> Array:
        """(T,) the part of z that belongs to shapes."""
        return z[: len(self.shape_names)]

    def of_loop(self, z: Array) -> Array:
        """The part of z that belongs to the loop."""
        return z[len(self.shape_names) :]

    def model(self, z: Array) -> TorqueModel:
        """The model at z."""
        return self.start if self.shapes is None else self.shapes.model(self.of_shapes(z))

    def controller(self, z: Array, inertia: Array | None = None) -> Controller | None:
        """The loop at z, its gains for the inertia J (n,) where they follow it (59)."""
        return self.loop.at(self.of_loop(z), inertia)

    def delay(self, z: Array) -> float:
        """The delay of the reference at z, s."""
        return self.loop.delay(self.of_loop(z))

    def zero(self, z: Array) -> Array:
        """(n,) what is added to logged positions and references at z, rad or m."""
        return self.loop.offset(ZERO, self.of_loop(z), self.start.robot.n)

    def shift(self, z: Array) -> Array:
        """(n,) logged minus simulated positions at z, rad or m."""
        return self.loop.offset(BIAS, self.of_loop(z), self.start.robot.n) - self.zero(z)

    def offsets(self, z: Array) -> dict[str, Any]:
        """Both, as a `Preprocessing` keeps them; empty where none is estimated."""
        if not self.loop.offsets:
            return {}
        return {"zero": tuple(self.zero(z).tolist()), "shift": tuple(self.shift(z).tolist())}

    def estimated(
        self, z: Array, covariance: Array
    ) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float]]]:
        """Shapes, and gains and delay, with their sigma from the covariance (e, e) of z."""
        T = len(self.shape_names)
        gains = self.loop.estimated(self.of_loop(z), covariance[T:, T:])
        if self.shapes is None:
            return {}, gains
        return self.shapes.estimated(self.of_shapes(z), covariance[:T, :T]), gains
