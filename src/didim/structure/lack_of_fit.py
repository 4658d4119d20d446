"""From a fit to its `LackOfFit`: suspects, columns, score tests, and other laws where the residual
is far above the noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from didim.control.kernels.law import USER
from didim.control.law import Controller
from didim.control.tuning import largest_inertias
from didim.dynamics.model import BaseModel
from didim.errors import InfeasibleError, InputError
from didim.regression.instruments import explained
from didim.regression.least_squares import joint_weights
from didim.regression.system import LinearSystem
from didim.results.fitted_rows import FittedRows
from didim.results.instruments import Instruments
from didim.results.lack_of_fit import LackOfFit
from didim.results.prediction import Predictor
from didim.results.ripple import Ripple, spectrum
from didim.signals.bandwidth import Bandwidth
from didim.signals.experiment import Experiment, measured_torque
from didim.signals.noise import has_coarse_steps, resolution
from didim.signals.states import States
from didim.simulation.evaluation import compare, noise_fraction
from didim.simulation.motion import Motion
from didim.simulation.records import record_set, regular_records
from didim.structure.better_law import concerns_law, with_other_laws
from didim.structure.blocks import tested_blocks
from didim.structure.columns import SimulatedFit
from didim.structure.of_loop import suspects_of_loop
from didim.structure.of_robot import suspects_of_robot
from didim.structure.simulated_motions import simulated_motions
from didim.structure.suspect import Course, Suspect
from didim.structure.tested import scored, table_of

Array = NDArray[np.float64]

SAME_INERTIA = 1e-6
"""Relative difference below which a loop is tuned for the inertias of the estimate."""


def lack_of_fit(
    predictor: Predictor,
    experiments: Sequence[Experiment],
    names: Sequence[str],
    estimated: Sequence[str] = (),
    motions: Sequence[Motion] = (),
) -> LackOfFit:
    """The tests of a fitted model on records.

    Parameters
    ----------
    names
        The base parameters that were estimated.
    estimated
        The gains that were, and "delay".
    motions
        Of the records, where a method has simulated them with these parameters.
    """
    if any(each.gains for each in experiments):
        return LackOfFit(reason="the tests need one loop, and records have gains of their own")
    if predictor.preprocessing.states == "simulated" and predictor.controller is not None:
        return _of_simulated(predictor, experiments, estimated, motions)
    if any(each.tau is None for each in experiments):
        return LackOfFit(reason="without a loop the tests compare torques, and a record has none")
    return _of_measured(predictor, experiments, names)


def _of_simulated(
    predictor: Predictor,
    experiments: Sequence[Experiment],
    estimated: Sequence[str],
    simulated: Sequence[Motion],
) -> LackOfFit:
    model, loop, how = predictor.model, predictor.controller, predictor.preprocessing
    assert loop is not None
    if any(how.zero) or any(how.shift):
        return LackOfFit(reason="zeros or biases of the joints were unknowns")
    has_torque = all(each.tau is not None for each in experiments)
    blocks, start = tested_blocks(experiments, how.transient), how.start
    if blocks.part < 1.0:
        simulated, start = (), None if isinstance(start, tuple) else start
    records = record_set(
        model, blocks.records, loop, how.selection, blocks.transient, start,
        ("tau",) if has_torque else ("q",), "delay" in estimated,
    )  # fmt: skip
    window = records.window(blocks.transient)
    loop = _following(loop, model, predictor.parameters)
    at = model, predictor.parameters, loop, records, window, how.delay
    fit = SimulatedFit(*at, tuple(estimated), tuple(simulated), blocks.origin)
    courses = fit.courses()
    if courses is None:
        return LackOfFit(reason="the loop cannot be simulated with these parameters")
    law = courses[0].law
    assert law is not None
    if law.kind == USER:
        return LackOfFit(reason="sensitivities need a law that didim knows, not an OwnLaw")
    motions = fit.motions()
    assert motions is not None
    largest = np.full(model.robot.n, np.inf)
    if has_torque:
        peaks = [np.abs(measured_torque(each)).max(axis=0) for each in experiments]
        largest = np.max(peaks, axis=0)
    ripples = _ripples(fit, courses) if has_torque else {}
    suspects = [
        *suspects_of_loop(law, courses, largest, estimated),
        *suspects_of_robot(model, courses, ripples, True),
    ]
    try:
        found = fit.columns(suspects, courses)
    except InputError as problem:
        return LackOfFit(reason=str(problem).rstrip("."))
    if found is None:
        return LackOfFit(reason="the sensitivities diverge")
    steps = not has_torque or bool(np.any(law.quantum > 0)) or _have_steps(blocks.records)
    tested = scored(suspects, *found, model.robot.joint_names, law, steps)
    lack = replace(table_of(tested), part=blocks.part)
    if not has_torque:
        return lack
    evaluation = compare(records, motions, window)
    noise = noise_fraction(records, evaluation, window)
    over = np.where(noise > 0, evaluation.by_joint / np.maximum(noise, 1e-300), 1.0)
    if lack.found and concerns_law(lack, float(over.max())):
        return with_other_laws(fit, tested, lack, evaluation.deviations, over)
    return lack


def _following(loop: Controller, model: BaseModel, parameters: Array) -> Controller:
    """A loop given by its poles and tuned for these very parameters, so that its gains change with
    them (59): errors of the inertias are no errors of the gains.
    """
    if not loop.by_poles or loop.inertia is None:
        return loop
    J = largest_inertias(model, parameters)
    follows = np.allclose(loop.inertia, J, rtol=SAME_INERTIA, atol=0.0)
    return replace(loop, inertia=None) if follows else loop


def _of_measured(
    predictor: Predictor, experiments: Sequence[Experiment], names: Sequence[str]
) -> LackOfFit:
    model, how = predictor.model, predictor.preprocessing
    rows = FittedRows(model, how, Bandwidth(how.cutoff), not how.selection.ends)
    whole = regular_records(model, experiments)
    blocks = tested_blocks(whole, 0.0)
    records = blocks.records
    system, courses = rows.linearised(records, predictor.parameters)
    if predictor.controller is not None:
        try:
            motions = simulated_motions(
                model, predictor.parameters, predictor.controller, whole, how
            )
            along_blocks = [*blocks.parts_of(whole, motions)]
            system, courses = _instrumented(predictor, rows, records, system, along_blocks)
        except (InputError, InfeasibleError) as problem:
            return LackOfFit(reason=str(problem).rstrip("."))
    if len(names) < len(model.parameter_names):
        kept = [model.parameter_names.index(name) for name in names]
        further = range(len(model.parameter_names), system.W.shape[1])
        system = system.only(np.array([*kept, *further], dtype=np.int64))
    along = [
        Course(model, predictor.parameters, np.asarray(record.t), states, tau, k)
        for k, (record, (states, tau)) in enumerate(zip(records, courses, strict=True))
    ]
    suspects = suspects_of_robot(model, along, _ripples_of(system, along, rows, records), False)
    count = sum(each.columns for each in suspects if each.torque is not None)
    torques = (_torques(suspects, course) for course in along)
    Z = rows.signal_columns(records, system, torques, count)
    positions = [each.q for each in records if each.q is not None]
    steps = _have_steps(records) or any(np.any(resolution(q)) for q in positions)
    tested = scored(suspects, system, Z, model.robot.joint_names, None, steps)
    return replace(table_of(tested), part=blocks.part)


def _torques(suspects: Sequence[Suspect], course: Course) -> Iterator[Mapping[int, Array]]:
    """Of the columns along a record, one after the other."""
    for each in suspects:
        if each.torque is not None:
            yield from each.torque(course)


def _have_steps(records: Sequence[Experiment]) -> bool:
    """Whether a torque was logged in coarse steps, so that errors come in bursts."""
    return any(has_coarse_steps(measured_torque(record)) for record in records)


def _instrumented(
    predictor: Predictor,
    rows: FittedRows,
    records: Sequence[Experiment],
    system: LinearSystem,
    motions: Sequence[States],
) -> tuple[LinearSystem, list[tuple[States, Array]]]:
    """The equations of IV, and torques along the simulated motions: columns of the measured ones
    would have the noise that instruments are for.
    """
    model, chi = predictor.model, predictor.parameters
    Z = Instruments(rows, tuple(records)).columns(motions)
    weights = joint_weights(system, system.sizes)
    along = [
        (each, model.inverse_dynamics(each.q, each.dq, each.ddq, chi, each.slip, each.signals))
        for each in motions
    ]
    return replace(system, W=explained(system, Z, weights)), along


def _ripples(fit: SimulatedFit, courses: Sequence[Course]) -> dict[int, Ripple]:
    """The spectra of the residuals over the simulated positions."""
    found, n = {}, fit.model.robot.n
    q, rho, moves = [], [], []
    for k, course in enumerate(courses):
        samples, selection = fit.window.samples[k], fit.records.selection
        error = measured_torque(fit.records.records[k]) - course.tau
        rho.append(selection.columns(samples, error))
        q.append(course.states.q[selection.samples(samples)])
        moves.append(selection.moves(course.states.dq, samples))
    for j in range(n):
        used = np.concatenate([each[:, j] for each in moves])
        positions = np.concatenate([each[:, j] for each in q])[used]
        errors = np.concatenate([each[:, j] for each in rho])[used]
        try:
            found[j] = spectrum(j, positions, errors)
        except InputError:  # it hardly moves
            continue
    return found


def _ripples_of(
    system: LinearSystem, courses: Sequence[Course], rows: FittedRows, records: Sequence[Experiment]
) -> dict[int, Ripple]:
    """The spectra of the residuals over the measured positions."""
    found = {}
    q = np.zeros(system.y.size)
    for k, course in enumerate(courses):
        at = rows.samples(records[k])
        own = system.series == k
        q[own] = course.states.q[at[system.index[own]], system.joint[own]]
    for j in range(system.n):
        own = system.joint == j
        try:
            found[j] = spectrum(j, q[own], system.y[own])
        except InputError:
            continue
    return found
