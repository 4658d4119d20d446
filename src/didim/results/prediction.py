"""What an identified model says of another record: the torque, and how much of it is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.dynamics.torque import TorqueModel
from didim.errors import InfeasibleError, InputError
from didim.results.formatting import joint_label
from didim.signals.experiment import Experiment
from didim.signals.filters import reach
from didim.signals.resample import is_regular, period_of, regular
from didim.signals.rows import RowSelection
from didim.signals.states import States, measured_states, reference_states
from didim.simulation.motion import Motion
from didim.simulation.simulate import simulate

if TYPE_CHECKING:
    from didim.results.estimate import Estimate

Array = NDArray[np.float64]


SILENT = 1e-30
"""A torque below this, N.m or N, is none."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a method turned records into rows, so that others can be treated alike."""

    states: str
    """"measured", "reference" or "simulated"."""
    selection: RowSelection
    cutoff: float | None = None
    """Hz, of the filter of measured positions."""
    order: int = 4
    transient: float = 0.0
    """s cut at the start."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of simulations, see `didim.simulate`."""
    interpolation: str = "cubic"
    """Of references that are arrays on t."""
    delay: float = 0.0
    """s by which the reference reaches the controller late, where that was estimated."""

    def edge(self, t: Array) -> int:
        """Samples at both ends of a record with the times t that filtering and differentiating its
        positions spoils.
        """
        return (
            2 * max(1, reach(1.0 / period_of(t), self.cutoff)) if self.states == "measured" else 0
        )


@dataclass(frozen=True, eq=False)
class Validation:
    """How well an estimate predicts a record that it was not fitted to."""

    experiment: str
    residual: float
    """||Y - Y_e|| / ||Y|| on the rows used."""
    residual_by_joint: Array
    """(n,)."""
    rows: int
    message: str = ""
    """Why it could not be predicted; empty where it could."""

    def __str__(self) -> str:
        if self.message:
            return f"{self.experiment or 'experiment'}: not predicted. {self.message}"
        joints = ", ".join(f"{100 * share:.3g}" for share in self.residual_by_joint)
        return (
            f"{self.experiment or 'experiment'}: residual {100 * self.residual:.3g} % (by joint "
            f"{joints} %), {self.rows} rows"
        )


def predicted_torque(estimate: Estimate, experiment: Experiment) -> Array:
    """tau (N, n) that the estimate predicts at the experiment's times."""
    check_joints(estimate.model, experiment)
    t = np.asarray(experiment.t)
    if estimate.recipe.states == "simulated" or is_regular(t):
        return _predict(estimate, experiment)[0]
    even = regular(experiment, estimate.recipe.interpolation)
    return _at(t, np.asarray(even.t), _predict(estimate, even)[0])


def validated(estimate: Estimate, experiment: Experiment) -> Validation:
    """The residual of the estimate on another record, which is filtered and decimated as those of
    the fit.

    Edges that differentiating spoils are cut, also where the fit was told to keep its own.
    """
    rows = compared_rows(estimate, experiment)
    if not rows.used.any():
        nothing = np.full(rows.y.shape[1], np.inf)
        return Validation(
            experiment.name,
            np.inf,
            nothing,
            0,
            "No row is left: every joint is slower than rest_velocity.",
        )
    total, by_joint = relative_norms(
        np.where(rows.used, rows.y - rows.found, 0.0), np.where(rows.used, rows.y, 0.0)
    )
    return Validation(experiment.name, total, by_joint, int(rows.used.sum()))


def tried(estimate: Estimate, experiment: Experiment) -> Validation:
    """`validated`; that a record cannot be predicted is a result too, and does not undo the
    estimate.
    """
    try:
        return validated(estimate, experiment)
    except InfeasibleError as problem:
        return Validation(experiment.name, np.inf, np.full(experiment.n, np.inf), 0, str(problem))


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Measured and predicted torque of a record, filtered and decimated as equations are."""

    step: float
    """s between rows."""
    y: Array
    """(K, n) measured."""
    found: Array
    """(K, n) predicted."""
    used: NDArray[np.bool_]
    """(K, n) whether a row counts."""
    torque: Array
    """(N, n) predicted, before filtering, on the times of the record."""


def compared_rows(estimate: Estimate, experiment: Experiment) -> ComparedRows:
    """The rows of a record beside what the estimate predicts of them."""
    check_joints(estimate.model, experiment)
    refuse_silent(estimate.model, experiment)
    even = regular(experiment, estimate.recipe.interpolation)
    recipe, t, tau = estimate.recipe, np.asarray(even.t), np.asarray(even.tau)
    window = recipe.selection.window(t, recipe.transient, recipe.edge(t))
    found, dq = _predict(estimate, even)
    reduced = recipe.selection.columns(window, np.hstack([tau, found]))
    n, step = tau.shape[1], recipe.selection.decimation * period_of(t)
    used, torque = recipe.selection.moving(dq, window), _at(np.asarray(experiment.t), t, found)
    return ComparedRows(step, reduced[:, :n], reduced[:, n:], used, torque)


def _at(t: Array, even: Array, found: Array) -> Array:
    """Signals (M, n) on a regular clock, at the times t of a record."""
    return (
        found
        if t is even or np.array_equal(t, even)
        else np.column_stack([np.interp(t, even, each) for each in found.T])
    )


def relative_norms(error: Array, y: Array) -> tuple[float, Array]:
    """||error|| / ||y|| over all and by column, for (K, n) arrays; 0 where y is zero."""
    size, left = np.linalg.norm(y, axis=0), np.linalg.norm(error, axis=0)
    total = float(np.linalg.norm(size))
    return float(np.linalg.norm(left) / total) if total > 0 else 0.0, left / np.where(
        size > 0, size, 1.0
    )


def simulated(
    model: TorqueModel,
    parameters: Array,
    controller: Controller | None,
    experiment: Experiment,
    recipe: Recipe,
) -> Motion:
    """The closed loop of an experiment at its times."""
    if controller is None:
        raise InputError("There is no controller to simulate with; give one.")
    course = experiment.reference(recipe.interpolation).delayed(recipe.delay)
    return simulate(
        model,
        parameters,
        controller,
        t=experiment.t,
        q_ref=course,
        initial=recipe.start,
        check=False,
    )


def check_joints(model: TorqueModel, experiment: Experiment) -> None:
    """Refuse what is no experiment, or one of another robot."""
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment must be a didim.Experiment, found {type(experiment).__name__}."
        )
    if experiment.n != model.robot.n:
        raise InputError(
            f"Experiment {experiment.name!r} has {experiment.n} joints, robot {model.robot.name!r} "
            f"has {model.robot.n}."
        )


def refuse_silent(model: TorqueModel, experiment: Experiment) -> None:
    """Refuse a record in which a joint has no torque."""
    silent = np.flatnonzero(np.abs(np.asarray(experiment.tau)).max(axis=0) < SILENT)
    if silent.size:
        j = int(silent[0])
        raise InputError(
            f"Experiment {experiment.name!r}: the torque of {joint_label(model, j)} is zero "
            "throughout. "
            "Was it recorded, and is it in the right column?"
        )


def _predict(estimate: Estimate, experiment: Experiment) -> tuple[Array, Array]:
    """tau and dq (N, n)."""
    model, recipe = estimate.model, estimate.recipe
    check_joints(model, experiment)
    if recipe.states == "simulated":
        motion = simulated(model, estimate.parameters, estimate.controller, experiment, recipe)
        if not motion.completed:
            raise InfeasibleError(
                f"The identified model cannot be simulated on {experiment.name!r}: {motion.message}"
            )
        return motion.tau, motion.dq
    states: States = (
        measured_states(experiment, recipe.cutoff, recipe.order)
        if recipe.states == "measured"
        else reference_states(experiment)
    )
    return model.inverse_dynamics(states.q, states.dq, states.ddq, estimate.parameters), states.dq
