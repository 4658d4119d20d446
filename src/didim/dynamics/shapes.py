"""`Shapes`: parameters that the torque is not linear in, as unknowns z that start at zero.

A positive one is estimated as the logarithm of its factor, another one in units of its own size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.dynamics.parameters import Sign

Array = NDArray[np.float64]

SPREAD = 1.0
"""Prior standard deviation of z."""

LONGEST_STEP = 0.5
"""Largest change of z in one step."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """The shapes of a model that are estimated, from its own values at z = 0."""

    start: BaseModel

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(T,)."""
        return self.start.layout.terms.free

    @cached_property
    def _first(self) -> Array:
        return np.array([self.start.free_shapes[name] for name in self.names])

    @cached_property
    def _logarithmic(self) -> NDArray[np.bool_]:
        signs = {shape.name: shape.sign for shape in self.start.layout.terms.shapes}
        positive = np.array([signs[name] is Sign.POSITIVE for name in self.names], dtype=bool)
        return positive & (self._first > 0)

    @property
    def spread(self) -> Array:
        """(T,) prior standard deviation of z about zero."""
        return np.full(len(self.names), SPREAD)

    @property
    def longest_step(self) -> Array:
        """(T,) largest change of z in one step."""
        return np.full(len(self.names), LONGEST_STEP)

    def values(self, z: Array) -> Array:
        """(T,) the shapes at z, in their own units."""
        size = np.where(self._first == 0, 1.0, np.abs(self._first))
        return np.where(
            self._logarithmic, self._first * np.exp(np.clip(z, -50, 50)), self._first + size * z
        )

    def slopes(self, z: Array) -> Array:
        """(T,) d shape / d z."""
        size = np.where(self._first == 0, 1.0, np.abs(self._first))
        return np.where(self._logarithmic, self.values(z), size)

    def model(self, z: Array) -> BaseModel:
        """The model with the shapes at z."""
        if not self.names:
            return self.start
        return self.start.with_shapes(dict(zip(self.names, self.values(z).tolist(), strict=True)))

    def estimated(self, z: Array, covariance: Array) -> dict[str, tuple[float, float]]:
        """The shapes with their sigma, from the covariance (T, T) of z."""
        sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * np.abs(self.slopes(z))
        pairs = zip(self.names, self.values(z), sigma, strict=True)
        return {name: (float(value), float(s)) for name, value, s in pairs}
