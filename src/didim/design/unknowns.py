"""What a record is to determine: the columns of the torque by parameters, shapes of effects and
slow friction, at any motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.errors import InputError

Array = NDArray[np.float64]

SMOOTHING = 0.05
"""Velocity over its limit at which Coulomb friction is smoothed, for derivatives."""

SLOW = 0.05
"""Velocity over its limit at which slow friction has fallen to 1/e."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The columns d tau / d unknown of a model at its nominal parameters.

    Slow friction stands for what any friction law does near rest (Stribeck): a column slip exp(-(v
    / v_slow)^2) for each contact. A motion that determines it too has slow parts. It guides the
    search and is not among the unknowns that are reported.
    """

    model: BaseModel
    parameters: Array
    """(b,) nominal base parameters."""
    velocity: Array
    """(n,) limits, to which smoothing and slowness are relative."""

    def __post_init__(self) -> None:
        if self.model.channels:
            raise InputError(
                f"An effect of {self.model.robot.name!r} needs the channel "
                f"{self.model.channels[0]!r}, which no trajectory excites: design with a model "
                "without it."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """(b,) base parameters that are not known, then shapes."""
        names, affine = self.model.parameter_names, self.model.affine
        kept = names if affine is None else tuple(names[k] for k in affine.kept)
        return (*kept, *self.model.free_shapes)

    @property
    def values(self) -> Array:
        """(b,) nominal values of these."""
        affine = self.model.affine
        kept = self.parameters if affine is None else self.parameters[affine.kept]
        return np.concatenate([kept, np.array(list(self.model.free_shapes.values()))])

    @cached_property
    def _contact_velocity(self) -> Array:
        """(c,) limit of the velocity of each contact."""
        return np.abs(self.model.layout.contact) @ self.velocity

    def smooth_slip(self, dq: Array) -> Array:
        """(N, c) slip as a smooth function of the velocity."""
        speed = self.model.contact_velocities(dq)
        return np.tanh(speed / (SMOOTHING * self._contact_velocity))

    def regressor(self, q: Array, dq: Array, ddq: Array, slip: Array | None) -> Array:
        """(N, n, p) of all base parameters and of the shapes."""
        signals = None
        if self.model.loaded:
            load = self.model.loads(q, dq, ddq, self.parameters, slip)
            signals = {"load": load}
        W = self.model.regressor(q, dq, ddq, slip, signals)
        if not self.model.free_shapes:
            return W
        by_shape, _ = self.model.slopes(q, dq, ddq, self.parameters, slip, signals)
        return np.concatenate([W, by_shape], axis=2)

    def reduced(self, columns: Array) -> Array:
        """Columns of all base parameters and what follows them, as those of what is not known."""
        affine, b = self.model.affine, len(self.model.parameter_names)
        if affine is None:
            return columns
        return np.concatenate([columns[..., :b] @ affine.basis, columns[..., b:]], axis=-1)

    def searched(self, q: Array, dq: Array, ddq: Array) -> Array:
        """(N, n, p + c) the columns that the search uses: smooth, with slow friction."""
        slip = self.smooth_slip(dq)
        W = self.regressor(q, dq, ddq, slip)
        if not slip.shape[1]:
            return W
        ratio = self.model.contact_velocities(dq) / (SLOW * self._contact_velocity)
        slow = (slip * np.exp(-(ratio**2)))[:, None, :] * self.model.layout.contact.T
        return np.concatenate([W, slow], axis=2)
