"""The identified friction of a joint over its velocity, and the torque of springs, ripple and own
effects over its position, with their bands and the rows of the records.

A point is what the model leaves of a row, added to the curve at the row's velocity: the measured
torque without the identified inertia, gravity and other effects, at the load and the channels of
the curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from didim.control.tuning import joint_ranges
from didim.errors import InfeasibleError, InputError
from didim.results.curve_torque import conditions_of, torque_of
from didim.results.effect_columns import effect_columns
from didim.results.prediction import Predictor
from didim.results.validation import ComparedRows
from didim.robot.labels import joint_label
from didim.signals.experiment import Experiment

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

Array = NDArray[np.float64]
Curve = Callable[[Array], tuple[Array, Array]]
"""Torque and deviation (V,) at the abscissae (V,)."""

LEVEL = 0.95
"""Confidence of the bands."""

SIDE = 120
"""Velocities in each direction."""

POSITIONS = 601

UNKNOWN_SPEED = 1.0
"""rad/s or m/s: how far a curve goes where neither records nor a limit say."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectCurve:
    """The torque of effects of one joint, at one load and constant channels. SI units."""

    joint: int
    """Counted from 0."""
    x: Array
    """(V,) velocity or position, rising."""
    torque: Array
    """(V,) N m, or N of a sliding joint."""
    low: Array
    """(V,) lower end of the band that holds the true torque at a velocity or position with 95 %
    confidence; infinite where nothing is known.
    """
    high: Array
    """(V,)."""
    points_x: Array
    """(K,) velocity or position in the rows of the records in which the joint moves; none without
    records.
    """
    points: Array
    """(K,) measured torque without the identified inertia, gravity and other effects."""
    load: float = 0.0
    """Of the joint, N m or N, where its friction depends on that."""
    channels: Mapping[str, float] = field(default_factory=dict)
    """Values of the logged channels that effects depend on."""

    @property
    def scatter(self) -> float:
        """Root mean square distance of the points from the curve, N m or N; 0 without points."""
        near = np.interp(self.points_x, self.x, self.torque)
        return float(np.sqrt(np.mean((self.points - near) ** 2))) if self.points.size else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class FrictionCurve(EffectCurve):
    """Friction and offset of a joint over its velocity. Velocity zero stands twice in it, for the
    limits at rest backward and forward; in between the joint sticks.
    """

    @property
    def velocity(self) -> Array:
        """(V,) rad/s or m/s."""
        return self.x


@dataclass(frozen=True, eq=False, kw_only=True)
class PositionCurve(EffectCurve):
    """The torque of springs, ripple and own effects of a joint over its position."""

    @property
    def position(self) -> Array:
        """(V,) rad or m."""
        return self.x


def motion_rows(
    predictor: Predictor, experiments: Sequence[Experiment]
) -> tuple[ComparedRows, ...]:
    """The rows of records along their motion; those that cannot be predicted are left out."""
    found = []
    for each in experiments:
        try:
            found.append(predictor.motion_rows(each))
        except (InputError, InfeasibleError):  # too short, no controller, a failed simulation
            continue
    return tuple(found)


def friction_curve(
    estimate: Estimate,
    joint: int,
    rows: Sequence[ComparedRows],
    load: float | None = None,
    channels: Mapping[str, float] | None = None,
) -> FrictionCurve:
    """Friction of a joint, counted from 0, over the velocities of the rows; without rows up to its
    velocity limit. `load` None: the root mean square of the rows; `channels` None: their means.
    """
    model, columns = estimate.model, effect_columns(estimate.model, joint)
    if not columns.rubs:
        raise InputError(
            f"The model of {joint_label(model.robot, joint)} has no friction; see `effects` of "
            "DynamicModel."
        )
    at = conditions_of(estimate, joint, rows, load, channels)
    axis = np.eye(model.robot.n)[joint]

    def one_way(sign: float) -> Curve:
        def curve(speed: Array) -> tuple[Array, Array]:
            dq = speed[:, None] * axis
            slip = np.tile(np.sign(model.contact_velocities(sign * axis)), (speed.size, 1))
            return torque_of(estimate, columns.friction, joint, at, at.q(speed.size), dq, slip)

        return curve

    least, most = _velocities(estimate, joint, rows)
    fine = np.linspace(0.0, 1.0, SIDE) ** 2  # dense where friction changes fast
    sides = [(-1.0, least * fine[::-1])] * (least < 0) + [(1.0, most * fine)] * (most > 0)
    parts = [one_way(sign)(speed) for sign, speed in sides]

    def both_ways(speed: Array) -> Array:
        return np.where(speed < 0, one_way(-1.0)(speed)[0], one_way(1.0)(speed)[0])

    moves = [each.moves[:, joint] for each in rows]
    speeds = [each.motion.dq[:, joint] for each in rows]
    return FrictionCurve(
        **_band(estimate, [np.concatenate(each) for each in zip(*parts, strict=True)]),
        **_points(rows, joint, moves, speeds, both_ways),
        joint=joint,
        x=np.concatenate([speed for _, speed in sides]),
        load=at.load,
        channels=at.channels,
    )


def position_curve(
    estimate: Estimate,
    joint: int,
    rows: Sequence[ComparedRows],
    channels: Mapping[str, float] | None = None,
) -> PositionCurve:
    """Torque of the effects of position of a joint, counted from 0, over the positions of the rows;
    without rows over its range.
    """
    model, columns = estimate.model, effect_columns(estimate.model, joint)
    if not columns.position.any():
        raise InputError(
            f"The model of {joint_label(model.robot, joint)} has no spring, ripple or other effect "
            "of its position."
        )
    at = conditions_of(estimate, joint, rows, 0.0, channels)

    def curve(position: Array) -> tuple[Array, Array]:
        q = at.q(position.size)
        q[:, joint] = position
        slip = np.zeros((position.size, len(model.contacts)))
        return torque_of(estimate, columns.position, joint, at, q, np.zeros_like(q), slip)

    positions = [each.motion.q[:, joint] for each in rows]
    lower, upper = joint_ranges(model)
    least = min((float(each.min()) for each in positions), default=float(lower[joint]))
    most = max((float(each.max()) for each in positions), default=float(upper[joint]))
    x = np.linspace(least, most, POSITIONS)
    moves = [each.moves[:, joint] for each in rows]
    return PositionCurve(
        **_band(estimate, curve(x)),
        **_points(rows, joint, moves, positions, lambda position: curve(position)[0]),
        joint=joint,
        x=x,
        channels=at.channels,
    )


def _band(estimate: Estimate, found: Sequence[Array]) -> dict[str, Any]:
    torque, deviation = found
    half = estimate.quantile(LEVEL) * deviation
    return {"torque": torque, "low": torque - half, "high": torque + half}


def _points(
    rows: Sequence[ComparedRows],
    joint: int,
    moves: Sequence[NDArray[np.bool_]],
    x: Sequence[Array],
    curve: Callable[[Array], Array],
) -> dict[str, Any]:
    """The rows in which the joint moves: what the model leaves of them, on the curve."""
    if not rows:
        return {"points_x": np.zeros(0), "points": np.zeros(0)}
    left = np.concatenate(
        [(r.y - r.found)[moving, joint] for r, moving in zip(rows, moves, strict=True)]
    )
    at = np.concatenate([each[moving] for each, moving in zip(x, moves, strict=True)])
    return {"points_x": at, "points": curve(at) + left}


def _velocities(
    estimate: Estimate, joint: int, rows: Sequence[ComparedRows]
) -> tuple[float, float]:
    """Lowest and largest velocity of the joint; both directions where nothing is known."""
    speeds = [each.motion.dq[:, joint] for each in rows]
    least = min((float(each.min()) for each in speeds), default=0.0)
    most = max((float(each.max()) for each in speeds), default=0.0)
    if least < 0 or most > 0:
        return least, most
    limit = float(estimate.model.robot.velocity_limits[joint])
    limit = limit if np.isfinite(limit) else UNKNOWN_SPEED
    return -limit, limit
