"""The torque of some parameters of a joint, and its standard deviation, under given conditions.

The torque is w beta, w (b,) the row of the regressor (4) at rest of all other joints. Its variance
is w C w' with the corrected covariance C. The covariance of shapes with beta is not kept: the
deviation that a shape adds, |d tau/d shape| sigma, is added in full, an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import joint_ranges
from didim.errors import InputError
from didim.results.validation import ComparedRows
from didim.validation import real

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Conditions:
    """What a curve takes for given."""

    pose: Array
    """(n,) positions."""
    joint: int
    load: float
    channels: Mapping[str, float]

    def q(self, count: int) -> Array:
        """(count, n)."""
        return np.tile(self.pose, (count, 1))

    def signals(self, count: int) -> dict[str, Array]:
        """Channels and loads for so many samples."""
        load = np.zeros((count, self.pose.size))
        load[:, self.joint] = self.load
        return {name: np.full(count, each) for name, each in self.channels.items()} | {"load": load}


def conditions_of(
    estimate: Estimate,
    joint: int,
    rows: Sequence[ComparedRows],
    load: float | None,
    channels: Mapping[str, float] | None,
) -> Conditions:
    """Pose, load and channels, from the rows where they are not given."""
    model, given, found = estimate.model, dict(channels or {}), {}
    for name in model.channels:
        if name in given:
            found[name] = real(given[name], f"channel {name}")
        elif rows:
            found[name] = float(np.mean([np.mean(each.motion.signals[name]) for each in rows]))
        else:
            raise InputError(
                f"Effects depend on the channel {name!r}, and there is no record: give its value, "
                f"channels={{{name!r}: ...}}."
            )
    poses = [each.motion.q for each in rows]
    pose = np.median(np.concatenate(poses), axis=0) if poses else np.mean(joint_ranges(model), 0)
    chosen = _typical_load(estimate, joint, rows) if load is None else real(load, "load")
    return Conditions(pose, joint, chosen, found)


def _typical_load(estimate: Estimate, joint: int, rows: Sequence[ComparedRows]) -> float:
    """Root mean square over the rows; 0 where nothing depends on it."""
    if not estimate.model.loaded or not rows:
        return 0.0
    loads = []
    for each in rows:
        at = each.motion
        motion = at.q, at.dq, at.ddq, estimate.parameters, at.slip, at.signals
        loads.append(estimate.model.loads(*motion)[:, joint])
    return float(np.sqrt(np.mean(np.concatenate(loads) ** 2)))


def torque_of(
    estimate: Estimate,
    chosen: NDArray[np.bool_],
    joint: int,
    at: Conditions,
    q: Array,
    dq: Array,
    slip: Array,
) -> tuple[Array, Array]:
    """Torque of the chosen parameters (b,) on the joint, and its standard deviation, (V,) each."""
    model, beta = estimate.model, np.where(chosen, estimate.parameters, 0.0)
    motion, signals = (q, dq, np.zeros_like(q)), at.signals(len(q))
    w = model.regressor(*motion, slip, signals)[:, joint] * chosen
    by_shape = np.abs(model.slopes(*motion, beta, slip, signals)[0][:, joint])
    column = {name: k for k, name in enumerate(model.parameter_names)}
    w_found = w[:, [column[name] for name in estimate.names]]
    known = np.isfinite(np.diag(estimate.corrected_covariance))
    C = np.where(np.outer(known, known), estimate.corrected_covariance, 0.0)
    deviation = np.sqrt(np.maximum(np.einsum("vi,ij,vj->v", w_found, C, w_found), 0.0))
    for t, name in enumerate(model.layout.terms.free):
        sigma = estimate.shapes.get(name, (0.0, 0.0))[1]
        deviation += np.where(by_shape[:, t] == 0, 0.0, by_shape[:, t] * sigma)
    unknown = np.any(w_found[:, ~known] != 0, axis=1)
    return w @ beta, np.where(unknown, np.inf, deviation)
