"""What an identified model predicts of another record: the torque, and how much of it is
unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.dynamics.torque import TorqueModel
from didim.errors import InfeasibleError, InputError
from didim.results.along_motion import along_motion, rows_along_motion
from didim.results.load_seen import load_seen
from didim.results.validation import (
    AlongMotion,
    ComparedRows,
    Validation,
    compared_rows,
    unpredicted,
    validation_of,
)
from didim.signals.experiment import Experiment
from didim.signals.filters import reach
from didim.signals.resample import is_regular, period_of, regular
from didim.signals.rows import RowSelection
from didim.signals.states import States, measured_positions, measured_states, reference_states
from didim.simulation.motion import Motion
from didim.simulation.records import check_joints, refuse_silent
from didim.simulation.simulate import simulate
from didim.simulation.starts import MEASURED, measured_start

Array = NDArray[np.float64]


MAX_CUTOFF_FRACTION = 0.4
"""Of the sampling rate: cutoff for records that are sampled too slowly for that of the fit."""

MIN_LOADED_ERROR = 0.02
"""Fraction of a record's torque that must be left, for a load to be looked for in it."""


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """How a method turned records into rows, so that others can be treated alike."""

    states: str
    """"measured", "reference" or "simulated"."""
    selection: RowSelection
    cutoff: float | None = None
    """Hz, of the filter of measured positions."""
    order: int = 4
    accuracy: int = 2
    """Order of the central differences of measured positions: 2 or 8."""
    transient: float = 0.0
    """s cut at the start."""
    start: tuple[ArrayLike, ArrayLike] | str | None = None
    """Initial state of simulations, see `didim.simulate`."""
    interpolation: str = "cubic"
    """Of references that are arrays on t."""
    delay: float = 0.0
    """s by which the reference reaches the controller late, where that was estimated."""
    zero: tuple[float, ...] = ()
    """(n,) added to logged positions and references, rad or m, where that was estimated."""
    shift: tuple[float, ...] = ()
    """(n,) logged minus simulated positions, rad or m, where that was estimated."""
    reversals: float | None = None
    """Hz, of the filter by which reversals of the joints are found, near which equations do not
    count in a fit; None: all count.
    """
    signs: float | None = None
    """Hz, of the filter of the velocities whose sign the Coulomb columns have; samples at which it
    is not known do not count in a fit. None: that of the motion itself, and all count.
    """

    @property
    def logged(self) -> Array | float:
        """(n,) logged minus simulated positions."""
        return np.array(self.shift) if self.shift else 0.0

    @property
    def weighs_samples(self) -> bool:
        """Whether some samples do not count in a fit."""
        return self.reversals is not None or self.signs is not None

    def motion(self, experiment: Experiment) -> States:
        """The measured motion or the reference's, of a regularly sampled record."""
        if self.states == "reference":
            return reference_states(experiment)
        return measured_states(experiment, self.cutoff, self.order, self.accuracy)

    def suited(self, experiment: Experiment) -> Preprocessing:
        """The same for a record that may be sampled more slowly than those of the fit."""
        rate = 1.0 / period_of(np.asarray(experiment.t))
        fits = self.cutoff is None or self.cutoff < rate / 2
        return self if fits else replace(self, cutoff=MAX_CUTOFF_FRACTION * rate)

    def edge(self, t: Array) -> int:
        """Samples at both ends of a record with the times t that filtering and differentiating its
        positions spoils.
        """
        return (
            2 * max(1, reach(1.0 / period_of(t), self.cutoff)) if self.states == "measured" else 0
        )


@dataclass(frozen=True, eq=False)
class Predictor:
    """An identified model, and how records become what it predicts."""

    model: BaseModel
    parameters: Array
    """(b,) base parameters."""
    controller: Controller | None
    preprocessing: Preprocessing

    def torque(self, experiment: Experiment) -> Array:
        """tau (N, n) that the model predicts at the experiment's times."""
        check_joints(self.model, experiment)
        t = np.asarray(experiment.t)
        if self.preprocessing.states == "simulated" or is_regular(t):
            return self._predict(experiment)[0]
        even = regular(experiment, self.preprocessing.interpolation)
        return _at(t, np.asarray(even.t), self._predict(even)[0])

    def compare(self, experiment: Experiment) -> ComparedRows:
        """The rows of a record beside what the model predicts of them. Edges that differentiating
        spoils are cut, also where the fit kept its own.
        """
        even = self._even(experiment)
        preprocessing, t = self.preprocessing, np.asarray(even.t)
        window = preprocessing.selection.window(t, preprocessing.transient, preprocessing.edge(t))
        found, motion = self._predict(even)
        torque = _at(np.asarray(experiment.t), t, found)
        pair = recorded_output(even), self._output(even, found, motion)
        return compared_rows(preprocessing.selection, window, t, *pair, motion, torque)

    def output(self, experiment: Experiment) -> Array:
        """(N, n) what the model predicts of `recorded_output`, of a record on a regular clock."""
        check_joints(self.model, experiment)
        return self._output(experiment, *self._predict(experiment))

    def _output(self, experiment: Experiment, torque: Array, motion: States | Motion) -> Array:
        if experiment.tau is not None:
            return torque
        return np.asarray(motion.q + self.preprocessing.logged)

    def rows_along_motion(self, experiment: Experiment) -> ComparedRows | None:
        """The record by inverse dynamics along its measured positions, after a simulating method;
        None where there are no positions, or too few or too noisy ones.
        """
        if self.preprocessing.states != "simulated" or experiment.q is None:
            return None
        if experiment.tau is None:
            return None
        even, selection = self._even(experiment), self.preprocessing.selection
        transient = self.preprocessing.transient
        return rows_along_motion(self.model, self.parameters, even, selection.decimation, transient)

    def motion_rows(
        self, experiment: Experiment, known: ComparedRows | None = None
    ) -> ComparedRows:
        """The rows of a record along its measured motion, or the simulated one where positions are
        missing or too noisy; `known` is what `compare` gave.
        """
        return self.rows_along_motion(experiment) or known or self.compare(experiment)

    def along_motion(self, experiment: Experiment) -> AlongMotion | None:
        """What is left of these rows."""
        rows = self.rows_along_motion(experiment)
        return None if rows is None else along_motion(experiment, rows)

    def validate(self, experiment: Experiment, fitted: Sequence[Experiment] = ()) -> Validation:
        """The residual on a record, which is filtered and decimated as those of the fit."""
        return self._judged(experiment, self.compare(experiment), fitted)

    def try_on(
        self, experiment: Experiment, fitted: Sequence[Experiment] = ()
    ) -> tuple[Validation, ComparedRows | None]:
        """`validate`; that a record cannot be predicted is a result too."""
        try:
            rows = self.compare(experiment)
        except (InfeasibleError, InputError) as problem:
            return unpredicted(experiment, str(problem)), None
        return self._judged(experiment, rows, fitted), rows

    def _judged(
        self, experiment: Experiment, rows: ComparedRows, fitted: Sequence[Experiment]
    ) -> Validation:
        """The residual, and a load of the record that explains it."""
        found = validation_of(experiment, rows, self.along_motion(experiment), fitted)
        if found.message or found.worst < MIN_LOADED_ERROR or experiment.tau is None:
            return found
        along = self.motion_rows(experiment, rows)
        return replace(found, load=load_seen(self.model, along))

    def fitted(
        self, experiments: Sequence[Experiment]
    ) -> tuple[tuple[Validation, ...], tuple[AlongMotion, ...]]:
        """The records of the fit with rows that `rest_velocity` left out, and along their
        motion.
        """
        rests = self.preprocessing.selection.rest_velocity is not None
        again = [self.try_on(each)[0] for each in experiments if rests]
        along = [self.along_motion(each) for each in experiments]
        known = tuple(each for each in along if each is not None)
        return tuple(each for each in again if each.left_out), known

    def _even(self, experiment: Experiment) -> Experiment:
        """The record on a regular clock; refused where it is of another robot or silent."""
        check_joints(self.model, experiment)
        refuse_silent(self.model, experiment)
        return regular(experiment, self.preprocessing.interpolation)

    def _predict(self, experiment: Experiment) -> tuple[Array, States]:
        """tau (N, n), and the motion that it belongs to."""
        model, preprocessing = self.model, self.preprocessing
        check_joints(model, experiment)
        if preprocessing.states == "simulated":
            motion = simulated(model, self.parameters, self.controller, experiment, preprocessing)
            if not motion.completed:
                raise InfeasibleError(
                    f"The identified model cannot be simulated on {experiment.name!r}: "
                    f"{motion.message}"
                )
            states = States(motion.q, motion.dq, motion.ddq, motion.slip, experiment.channels)
            return motion.tau, states
        states = preprocessing.suited(experiment).motion(experiment)
        along = states.q, states.dq, states.ddq, self.parameters, None, states.signals
        return model.inverse_dynamics(*along), states


def recorded_output(experiment: Experiment) -> Array:
    """(N, n) the torque of a record; its positions where it has none."""
    return measured_positions(experiment) if experiment.tau is None else np.asarray(experiment.tau)


def every_parameter(model: BaseModel, names: Sequence[str], values: Array) -> Array:
    """(b,) all base parameters of a model, zero where one is not among the names."""
    known = dict(zip(names, values, strict=True))
    return np.array([known.get(name, 0.0) for name in model.parameter_names])


def _at(t: Array, even: Array, found: Array) -> Array:
    """Signals (M, n) on a regular clock, at the times t of a record."""
    return (
        found
        if t is even or np.array_equal(t, even)
        else np.column_stack([np.interp(t, even, each) for each in found.T])
    )


def relative_residual(
    rho: Array, y: Array, joint: NDArray[np.int64], n: int
) -> tuple[float, Array]:
    """||rho|| / ||y|| over all rows and by joint (n,), for rows (r,) of the given joints."""
    error, size = (np.array([np.linalg.norm(x[joint == j]) for j in range(n)]) for x in (rho, y))
    total = float(np.linalg.norm(error) / np.linalg.norm(size))
    return total, error / np.where(size > 0, size, 1.0)


def simulated(
    model: TorqueModel,
    parameters: Array,
    controller: Controller | None,
    experiment: Experiment,
    preprocessing: Preprocessing,
) -> Motion:
    """The closed loop of an experiment at its times."""
    if controller is None:
        raise InputError("There is no controller to simulate with; give one.")
    trajectory = experiment.reference(preprocessing.interpolation).delayed(preprocessing.delay)
    start, zero = preprocessing.start, np.array(preprocessing.zero)
    if isinstance(start, str) and start == MEASURED:
        start = measured_start(experiment)
    if zero.any():
        trajectory = trajectory.raised(zero)
        if start is not None and not isinstance(start, str):
            start = (np.asarray(start[0]) + zero, start[1])
    return simulate(
        model,
        parameters,
        controller.during(experiment.gains),
        t=experiment.t,
        q_ref=trajectory,
        initial=start,
        check=False,
        signals=experiment.channels,
    )
