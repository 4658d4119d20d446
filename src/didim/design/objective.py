"""The number that the search makes small: criterion plus penalty, with its exact slope.

The slope of the regressor by positions, velocities and accelerations is taken by differences sample
by sample: 3 n + 1 regressors give the derivative by any number of coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.design.criterion import Criterion
from didim.design.loop_filters import LoopFilters
from didim.design.motions import Motions, Sampled
from didim.design.penalty import Penalty
from didim.design.unknowns import Unknowns

Array = NDArray[np.float64]

STEP = 1e-6
"""Of the differences, relative to the limits of position, velocity and acceleration."""


@dataclass(frozen=True, eq=False)
class Objective:
    """criterion(A(x)) + weight * penalty(x)."""

    motions: Motions
    unknowns: Unknowns
    filters: LoopFilters | None
    """None: the method uses the regressor along the motion itself."""
    criterion: Criterion
    penalty: Penalty
    noise: Array
    """(n,) N.m or N."""
    known: Array
    """(b, b) information that there is already, of the unknowns and the gains."""
    samples: float
    """Of the record: its rate times the duration."""

    @property
    def _torque(self) -> Array:
        """(p + c,) from the searched columns to the torque."""
        return np.concatenate([self.unknowns.parameters, np.zeros(self._others)])

    @property
    def _others(self) -> int:
        model = self.unknowns.model
        return len(model.free_shapes) + len(model.contacts)

    def value(self, x: Array, weight: float) -> tuple[float, Array]:
        """The number and its slope by x."""
        reference = self.motions.at(x)
        moved = self._moved(reference)
        W, coefficients = self.unknowns.searched(*moved[:3]), self._torque
        tau = W @ coefficients
        value, by_W, by_tau, by_speed = self._criterion(W, tau, self._speed(reference, moved))
        excess, by_reference, more = self.penalty.value(reference, tau)
        by_W += (by_tau + weight * more)[:, :, None] * coefficients
        by_moved = self._by_motion(moved, W, by_W)
        by_moved = by_moved._replace(dq=by_moved.dq + by_speed)
        slopes = [weight * each for each in by_reference]
        for k, each in enumerate(by_moved[:3]):
            slopes[k] += each if self.filters is None else self.filters.followed(each, adjoint=True)
        if self.filters is not None:
            slopes[1] -= self.filters.feedforward * by_speed
        return value + weight * excess, self.motions.slope(Sampled(*slopes))

    def criterion_value(self, x: Array) -> float:
        """The criterion alone."""
        reference = self.motions.at(x)
        moved = self._moved(reference)
        W = self.unknowns.searched(*moved[:3])
        return self._criterion(W, W @ self._torque, self._speed(reference, moved))[0]

    def torque(self, motion: Sampled) -> Array:
        """(N, n) of the robot that follows a motion on the grid."""
        unknowns, moved = self.unknowns, self._moved(motion)
        slip = unknowns.smooth_slip(moved.dq)
        return unknowns.model.inverse_dynamics(*moved[:3], unknowns.parameters, slip)

    def is_met(self, x: Array) -> bool:
        """Whether every limit is met on the grid."""
        motion = self.motions.at(x)
        return self.penalty.is_met(motion, self.torque(motion))

    def _moved(self, reference: Sampled) -> Sampled:
        """The motion of the robot that follows a reference in its loop."""
        if self.filters is None:
            return reference
        q, dq, ddq = map(self.filters.followed, reference[:3])
        return Sampled(q, dq, ddq, reference.dddq)

    def _speed(self, reference: Sampled, moved: Sampled) -> Array:
        """(N, n) dq - ff dq_r, which the gains of the velocity act on."""
        if self.filters is None:
            return moved.dq
        return moved.dq - self.filters.feedforward * reference.dq

    def _criterion(self, W: Array, tau: Array, speed: Array) -> tuple[float, Array, Array, Array]:
        """Its value, and its derivatives by W, tau and the speed."""
        p, model = W.shape[2], self.unknowns.model
        J = W if self.filters is None else self.filters.columns(W, tau, speed)
        used = J[:, :, self._order(p, J.shape[2])]
        if model.affine is not None:
            used = self.unknowns.reduced(used)
        scale = self.samples / W.shape[0] / self.noise**2
        flat = used.reshape(-1, used.shape[2])
        weighted = (used * scale[:, None]).reshape(flat.shape)
        A = flat.T @ weighted
        k = self.known.shape[0]
        A[:k, :k] += self.known
        size = A.shape[0] if self.criterion.uses_slow_friction else k
        value, G = self.criterion.value(A[:size, :size])
        full = np.zeros_like(A)
        full[:size, :size] = G
        by_used = (2.0 * weighted @ full).reshape(used.shape)
        return value, *self._back(by_used, J.shape, p)

    def _order(self, p: int, count: int) -> NDArray[np.int64]:
        """Columns in the order of the unknowns: parameters, shapes, gains, slow friction."""
        c = len(self.unknowns.model.contacts)
        return np.concatenate([np.arange(p - c), np.arange(p, count), np.arange(p - c, p)])

    def _back(self, by_used: Array, shape: tuple[int, ...], p: int) -> tuple[Array, Array, Array]:
        """From derivatives by the columns of the unknowns to those by W, tau and the speed."""
        affine, b = self.unknowns.model.affine, len(self.unknowns.model.parameter_names)
        if affine is not None:
            k = affine.kept.size
            parts = [by_used[..., :k] @ affine.basis.T, by_used[..., k:]]
            by_used = np.concatenate(parts, axis=-1)
            assert by_used.shape[2] >= b
        by_J = np.empty(shape)
        by_J[:, :, self._order(p, shape[2])] = by_used
        if self.filters is None:
            return by_J, np.zeros(shape[:2]), np.zeros(shape[:2])
        return self.filters.adjoint(by_J, p)

    def _by_motion(self, motion: Sampled, W: Array, by_W: Array) -> Sampled:
        """Derivatives by the motion of a number whose derivatives by W are given."""
        limits, n = self.motions.limits, self.motions.n
        steps = [STEP * self.motions.half, STEP * limits.velocity, STEP * limits.acceleration]
        slip, c = self.unknowns.smooth_slip(motion.dq), len(self.unknowns.model.contacts)
        W_alone, by_W_alone = (np.ascontiguousarray(each[:, :, : -c or None]) for each in (W, by_W))
        found = []
        for k, step in enumerate(steps):
            slope = np.empty_like(motion.q)
            for j in range(n):
                moved = list(motion[:3])
                moved[k] = motion[k].copy()
                moved[k][:, j] += step[j]
                if k == 1:  # friction changes too
                    change, by = self.unknowns.searched(*moved) - W, by_W
                else:
                    q, dq, ddq = moved
                    change, by = self.unknowns.regressor(q, dq, ddq, slip) - W_alone, by_W_alone
                slope[:, j] = np.einsum("kjb,kjb->k", change, by) / step[j]
            found.append(slope)
        return Sampled(found[0], found[1], found[2], np.zeros_like(motion.q))
