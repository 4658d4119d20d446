"""The tests of an estimate: are filtered positions a source of bias, are the instruments valid, is
what the fit leaves white and Gaussian?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from didim.control.law import Controller
from didim.dynamics.model import BaseModel
from didim.errors import InfeasibleError, InputError
from didim.regression.instruments import exogeneity, instrument_fit, validity
from didim.regression.least_squares import Solution, joint_weights, least_squares
from didim.regression.residual_tests import ChiSquare, normality, whiteness
from didim.regression.score import Score
from didim.regression.statistics import statistics
from didim.regression.system import LinearSystem
from didim.results.filtering import Filtering
from didim.results.fitted_rows import FittedRows
from didim.results.formatting import joint_label
from didim.results.hypothesis import DURBIN_WU_HAUSMAN, INSTRUMENTS, TEST_LEVEL, Test
from didim.results.instruments import Instruments
from didim.results.lack_of_fit import SMALLEST_RESIDUAL
from didim.results.prediction import every_parameter
from didim.results.start import start_of
from didim.signals.experiment import Experiment
from didim.signals.states import States, reference_states
from didim.simulation.motion import Motion
from didim.structure.blocks import tested_blocks
from didim.structure.simulated_motions import simulated_motions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """The equations at the end of a fit."""

    system: LinearSystem
    weights: Array
    """(r,) of the rows."""
    rho: Array
    """(r,) what they leave."""
    records: tuple[Experiment, ...]
    """On regular clocks."""
    parameters: Array
    """(b,) all base parameters."""
    motions: tuple[Motion, ...] = ()
    """Simulated in the loop with these parameters; empty: the method has none."""
    controller: Controller | None = None
    """The loop in which they are simulated then; None: it is not known."""
    measured: Instruments | None = None
    """The equations of the measured motion, where the method has them; else those of IDIM at its
    defaults are tested.
    """


def measured_fit(
    fitted: FittedRows,
    records: Sequence[Experiment],
    system: LinearSystem,
    solution: Solution,
    values: Array,
    controller: Controller | None,
) -> Fit:
    """Of IDIM: `values` (b,) of the parameters of `system`, and the loop, where it is known."""
    regular = tuple(records)
    return Fit(
        system,
        solution.row_weights,
        system.residual(values),
        regular,
        every_parameter(fitted.model, system.names, values),
        controller=controller,
        measured=Instruments(fitted, regular),
    )


def estimate_tests(model: BaseModel, fit: Fit, residual: float) -> dict[str, Test]:
    """All tests by name: "durbin_wu_hausman", "instruments", and of each joint j, from 1,
    "whiteness_j" and "normality_j". Next to no `residual`, ||rho|| / ||Y||, is not tested.
    """
    if residual <= SMALLEST_RESIDUAL:
        joints = range(1, model.robot.n + 1)
        of_joints = (f"{name}_{j}" for name in ("whiteness", "normality") for j in joints)
        without = Test(None, None, "Does not apply: next to nothing is left of the torque.")
        return dict.fromkeys((DURBIN_WU_HAUSMAN, INSTRUMENTS, *of_joints), without)
    return {**_instrument_tests(model, fit), **_residual_tests(model, fit)}


def _instrument_tests(model: BaseModel, fit: Fit) -> dict[str, Test]:
    """Those that compare the measured motion with the simulated one."""
    try:
        measured, motions = _both_motions(model, fit)
        W, Z = measured.measured(fit.parameters), measured.columns(motions)
        stage, solution = instrument_fit(W, Z, measured.weights)
        references = [reference_states(record) for record in measured.records]
        further = measured.columns(
            [measured.fitted.loaded(each, fit.parameters) for each in references]
        )
    except (InputError, InfeasibleError) as problem:
        without = Test(None, None, f"Does not apply: {str(problem).rstrip('.')}.")
        return dict.fromkeys((DURBIN_WU_HAUSMAN, INSTRUMENTS), without)
    own = fit.weights if fit.measured is not None else joint_weights(W)
    score = exogeneity(W, Z, own)
    far = _distance(W, own, solution) if score.p_value < TEST_LEVEL else ""
    return {
        DURBIN_WU_HAUSMAN: _judged(
            score,
            f"IDIM is biased by its filtered positions, {far}. Prefer IV or DIDIM, or filter "
            "otherwise.",
            "no sign that the filtered positions bias IDIM.",
        ),
        INSTRUMENTS: _judged(
            validity(stage, further, solution.weights),
            "what IV leaves depends on the motion: the model lacks something, or the filter takes "
            "part of the motion. Neither IDIM nor IV is free of bias.",
            "no sign that the instruments are invalid.",
        ),
    }


def _distance(system: LinearSystem, weights: Array, instrumental: Solution) -> str:
    """How far least squares is from the solution with instruments, in words."""
    plain = least_squares(system, weights)
    sigma = np.sqrt(np.diag(statistics(system, plain).corrected))
    away = np.abs(plain.values - instrumental.values) / np.where(sigma > 0, sigma, np.inf)
    k = int(away.argmax())
    return f"by up to {away[k]:.2g} of its sigmas ({system.names[k]}, beside IV)"


def _both_motions(model: BaseModel, fit: Fit) -> tuple[Instruments, tuple[States, ...]]:
    """The equations of the measured motion, and the simulated motions; refused where one of them is
    missing.
    """
    if any(record.q is None for record in fit.records):
        raise InfeasibleError("positions were not measured")
    motions = tuple(motion.states for motion in fit.motions)
    if fit.measured is None:
        blocks = tested_blocks(fit.records, 0.0)
        motions = tuple(blocks.parts_of(fit.records, motions)) if motions else ()
        measured = Instruments(Filtering().rows(model, blocks.records), blocks.records)
    else:
        measured = fit.measured
    if measured.fitted.preprocessing.states != "measured":
        raise InfeasibleError("the reference was taken for the motion")
    if motions:
        return measured, motions
    if fit.controller is None:
        raise InfeasibleError("instruments are simulated in the control loop; give controller")
    given = fit.controller, measured.records, measured.fitted.preprocessing
    try:
        return measured, simulated_motions(model, fit.parameters, *given)
    except InfeasibleError:  # a biased estimate may not move; any motion of the loop will do
        return measured, simulated_motions(model, start_of(model, "unit").base, *given)


def _residual_tests(model: BaseModel, fit: Fit) -> dict[str, Test]:
    """Those of each joint's residual."""
    white, normal, rho = {}, {}, fit.weights * fit.rho
    for j in range(min(fit.system.n, model.robot.n)):
        label, found = joint_label(model, j), whiteness(fit.system, j, rho)
        white[f"whiteness_{j + 1}"] = _judged(
            found,
            f"what is left of {label} lasts longer than filtered noise: errors of the model or of "
            "the motion, not only noise.",
            f"what is left of {label} is as white as filtered noise.",
        )
        is_white = not white[f"whiteness_{j + 1}"].rejects
        normal[f"normality_{j + 1}"] = _judged(
            normality(fit.system, j, rho, is_white),
            f"what is left of {label} is not Gaussian: outliers, or errors of the model.",
            f"what is left of {label} is as Gaussian as noise.",
        )
    return {**white, **normal}


def _judged(found: Score | ChiSquare | None, rejected: str, kept: str) -> Test:
    """A test with its sentence."""
    if found is None:
        return Test(None, None, "Does not apply: too few equations remain.")
    if isinstance(found, Score) and not found.rank:
        return Test(None, None, "Does not apply: the two motions do not differ.")
    sentence = rejected if found.p_value < TEST_LEVEL else kept
    return Test(found.statistic, found.p_value, f"{sentence[0].upper()}{sentence[1:]}")
