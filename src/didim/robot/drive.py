"""Drive gains (8)-(9): from the control signal of the amplifiers to the torque at the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.errors import InputError
from didim.validation import array_of, samples

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drive:
    """Gears Kr, amplifier gains Kc and torque constants Ktau.

    The motors turn with dq_m = Kr dq, so that power balances with tau = Kr' tau_m: for coupled
    joints Kr is a full matrix, and (9) reads g = Kr' Kc Ktau. Where Kc or Ktau is unknown there is
    no gain; the gears alone still serve to bring motor-side records to the joint side.
    """

    gear: Array
    """(n, n) Kr, motor velocity per joint velocity."""
    current_gain: Array | None = None
    """(n,) Kc, A per unit of the control signal."""
    torque_constant: Array | None = None
    """(n,) Ktau, N.m/A, at the motor."""

    def __post_init__(self) -> None:
        shape = np.shape(self.gear)
        for name in ("gear", "current_gain", "torque_constant"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, array_of(value, np.shape(value), name))
        if len(shape) != 2 or shape[0] != shape[1]:
            raise InputError(f"The gear matrix must be square, found shape {shape}.")
        if not np.all(np.isfinite(self.gear)) or np.linalg.matrix_rank(self.gear) < shape[0]:
            raise InputError(
                f"The gear matrix must be finite and invertible, found {self.gear.tolist()}."
            )
        for label, values in (
            ("current_gain", self.current_gain),
            ("torque_constant", self.torque_constant),
        ):
            if values is not None and (
                np.shape(values) != shape[:1]
                or not np.all(np.isfinite(values))
                or np.any(values == 0)
            ):
                raise InputError(
                    f"{label} must hold {shape[0]} finite numbers other than zero, found "
                    f"{values.tolist()}."
                )

    @property
    def gain(self) -> Array | None:
        """(n, n) g = Kr' Kc Ktau, eq. 9; None where Kc or Ktau is unknown.

        Implements (9).
        """
        if self.current_gain is None or self.torque_constant is None:
            return None
        return self.gear.T @ np.diag(self.current_gain * self.torque_constant)

    def joint_position(self, motor_position: ArrayLike) -> Array:
        """q (N, n) of the joints from the motors' positions (N, n): q = Kr^-1 q_m."""
        motor = samples(motor_position, "motor_position", self.gear.shape[0])
        return np.asarray(np.linalg.solve(self.gear, motor.T).T, dtype=np.float64)

    def joint_torque(self, motor_torque: ArrayLike) -> Array:
        """tau (N, n) at the joints from the motors' torques (N, n): tau = Kr' tau_m."""
        return samples(motor_torque, "motor_torque", self.gear.shape[0]) @ self.gear
