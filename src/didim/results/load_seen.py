"""Whether a record carries a load that the model does not have, or lacks one that it has.

What a model leaves of a record's torque, rho, is compared with the torque of a body at the last
link: rho = W (B phi + friction) + rest, where B phi has the mass and the first moments of the body,
and friction and offsets may have changed. A body that explains most of what these leave, more than
wrong factors on the torques would, and whose mass is certain, is named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from didim.dynamics.model import BaseModel
from didim.regression.least_squares import least_squares
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem, rows_of
from didim.results.formatting import fraction, joint_label, number
from didim.robot.effect_parameter import ParameterKind
from didim.robot.effects import LINK

if TYPE_CHECKING:
    from didim.results.validation import ComparedRows

Array = NDArray[np.float64]

MOMENTS = ("M", "MX", "MY", "MZ")
"""Parameters of a load that gravity and accelerations show best."""

MIN_SHARE = 0.5
"""Of the squares that other friction leaves, which the load must explain."""

MIN_SIGMAS = 5.0
"""Of the mass."""


@dataclass(frozen=True)
class LoadSeen:
    """A load that a record has more than the model, or less."""

    mass: float
    """kg; negative where the model has it and the record does not."""
    sigma: float
    """Its standard deviation, without the uncertainty of the model."""
    share: float
    """Fraction of the weighted squared residual that it explains."""
    joint: int
    """Whose link carries it, from 0."""

    def sentence(self, model: BaseModel, record: str) -> str:
        """What is seen, without what to do."""
        amount = f"a load of about {number(abs(self.mass))} kg"
        place = f"at the link of {joint_label(model, self.joint)}"
        explains = f"it explains {fraction(self.share)} of the squares that are left"
        if self.mass > 0:
            text = f"Record {record!r} carries {amount} {place} that the model does not have"
        else:
            text = f"Record {record!r} does not carry {amount} {place} that the model has"
        return f"{text}: {explains}."


def load_columns(model: BaseModel, joint: int) -> Array:
    """(b, 4) base parameters of a unit of each of `MOMENTS` at the link of a joint."""
    chosen = [int(model.layout.link[joint, LINK.index(name)]) for name in MOMENTS]
    return model.matrix[:, chosen]


def warms(model: BaseModel) -> NDArray[np.bool_]:
    """(b,) friction and offsets, which change with the temperature and not with a load."""
    return np.array(
        [each.kind.is_friction or each.kind is ParameterKind.OFFSET for each in model.parameters]
    )


def load_in(model: BaseModel, system: LinearSystem, torque: Array) -> LoadSeen | None:
    """The load in what a model leaves, y, of the rows W of a record whose predicted torque is
    `torque` (r,); None where none is certain, or factors on the torques explain as much.
    """
    joint = model.robot.n - 1
    B, friction = load_columns(model, joint), system.W[:, warms(model)]
    size = np.maximum(system.sizes, 1e-9 * system.sizes.max(initial=0.0))
    if not np.all(size > 0) or system.y.size <= friction.shape[1] + len(MOMENTS):
        return None
    weights = 1.0 / size[system.joint]
    names = tuple(str(i) for i in range(friction.shape[1] + len(MOMENTS)))
    both = np.column_stack([system.W @ B, friction])
    linear = replace(system, W=both, names=names, affine=None)
    solution = least_squares(linear, weights)
    if solution.confounded[0] or solution.rank < 1:
        return None
    variance = float(statistics(linear, solution).corrected[0, 0])
    left = weights * linear.residual(solution.values)
    squares, before = float(left @ left), _squares(linear, friction, weights)
    factors = np.where(system.joint[:, None] == np.arange(system.n), torque[:, None], 0.0)
    scaled = _squares(linear, np.hstack([factors, friction]), weights)
    share = 1.0 - squares / max(before, 1e-300)
    mass, sigma = float(solution.values[0]), float(np.sqrt(max(variance, 0.0)))
    if share < MIN_SHARE or abs(mass) < MIN_SIGMAS * sigma or scaled <= squares:
        return None
    return LoadSeen(mass, sigma, share, joint)


def _squares(system: LinearSystem, columns: Array, weights: Array) -> float:
    """Weighted squares that least squares with these columns leaves."""
    names = tuple(str(i) for i in range(columns.shape[1]))
    other = replace(system, W=columns, names=names)
    left = weights * other.residual(least_squares(other, weights).values)
    return float(left @ left)


def load_seen(model: BaseModel, rows: ComparedRows) -> LoadSeen | None:
    """The load that a record has more than the model that predicted it."""
    left = compared_system(model, rows)
    return load_in(model, left, rows.found.T[rows.counted.T])


def compared_system(model: BaseModel, rows: ComparedRows, series: int = 0) -> LinearSystem:
    """What a model leaves of a record, y, with W of the motion at the same rows."""
    motion, names = rows.motion, model.parameter_names
    signals = {**model.no_signals(len(motion.q)), **motion.signals}
    W = model.regressor(motion.q, motion.dq, motion.ddq, motion.slip, signals)
    return rows_of(W, rows.y - rows.found, rows.counted, names, series, np.ones(1))
