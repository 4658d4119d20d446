"""The motions that an estimate has in the loop: instruments of the measured ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from didim.control.feasible import with_positive_inertia
from didim.control.law import Controller
from didim.control.simulated_loop import SimulatedLoop
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.errors import InfeasibleError
from didim.results.prediction import Preprocessing
from didim.signals.experiment import Experiment
from didim.signals.states import States
from didim.simulation.records import record_set
from didim.structure.columns import SimulatedFit

Array = NDArray[np.float64]


def simulated_motions(
    model: BaseModel,
    parameters: Array,
    controller: Controller,
    experiments: Sequence[Experiment],
    how: Preprocessing,
) -> tuple[States, ...]:
    """The motions of records in a loop with the base parameters (b,), gains given by poles retuned
    for them (59); parameters without a positive M(q) are brought to the nearest that have one.
    Raises InfeasibleError where there is no motion.
    """
    records = record_set(model, experiments, controller, how.selection, 0.0, how.start)
    unit = np.ones(model.robot.n)
    parameters, _ = with_positive_inertia(model, parameters, records.poses, unit)
    parameters = np.where(model.frictional, np.maximum(parameters, 0.0), parameters)
    inertia = largest_inertias(model, parameters, unit)
    loop = SimulatedLoop(controller, controller.by_poles).at(np.zeros(0), inertia)
    assert loop is not None
    fit = SimulatedFit(model, parameters, loop, records, records.first_window)
    motions = fit.motions()
    if motions is None:
        raise InfeasibleError("the loop cannot be simulated with these parameters")
    return tuple(each.states for each in motions)
