"""`ReportData`: an estimate and its records. The torques of every record are predicted once, for
all sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from didim.errors import InfeasibleError, InputError, shortened
from didim.export.beside_mujoco import BesideMujoco, beside_mujoco
from didim.improvement.path import Improvement
from didim.payload.result import Payload
from didim.report.curves import Torques, torque_curves
from didim.results.estimate import Estimate
from didim.results.judgement import Judgement, judge
from didim.results.provenance import data_hash
from didim.results.validation import ComparedRows
from didim.signals.experiment import Experiment

MUJOCO_SECONDS = 5.0
"""Of a record that MuJoCo is stepped through."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One record beside the model's prediction, or why there is none."""

    experiment: Experiment
    rows: ComparedRows | None
    torques: Torques | None
    problem: str = ""

    @property
    def name(self) -> str:
        """Of the record."""
        return self.experiment.name or "record"


@dataclass(frozen=True, eq=False)
class ReportData:
    """An estimate with its records."""

    estimate: Estimate
    experiments: tuple[Experiment, ...]
    held_out: tuple[Experiment, ...]
    improvement: Improvement | None = None
    """How the model was found, where `didim.improve` did."""
    payload: Payload | None = None
    """What the robot carries, where that was identified."""

    @cached_property
    def judgement(self) -> Judgement:
        """What the model may be used for."""
        return judge(self.estimate)

    @cached_property
    def fitted(self) -> tuple[Shown, ...]:
        """The records of the fit."""
        return tuple(_shown(self.estimate, each) for each in self.experiments)

    @cached_property
    def tried(self) -> tuple[Shown, ...]:
        """The held-out records."""
        return tuple(_shown(self.estimate, each) for each in self.held_out)

    @cached_property
    def motion_rows(self) -> tuple[ComparedRows, ...]:
        """The rows of the records of the fit along their measured motion, or the simulated one."""
        predictor = self.estimate.predictor
        return tuple(
            predictor.motion_rows(each.experiment, each.rows)
            for each in self.fitted
            if each.rows is not None
        )

    @cached_property
    def beside_mujoco(self) -> BesideMujoco | str:
        """The start of the first record in didim and in MuJoCo, or why it is not shown."""
        first = self.experiments[0]
        start = float(first.t[0])
        try:
            return beside_mujoco(self.estimate, first.between(start, start + MUJOCO_SECONDS))
        except (InputError, InfeasibleError) as problem:
            return str(problem)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.estimate.model.robot.joint_names

    def are_those_of_the_fit(self) -> bool:
        """Whether the records are the ones that the estimate was found on, by their hashes."""
        hashes = [each.get("sha256") for each in self.estimate.provenance.get("data", [])]
        return (
            not hashes
            or not self.experiments
            or {data_hash(each) for each in self.experiments} == set(hashes)
        )


def report_data(
    estimate: Estimate,
    experiments: Sequence[Experiment] | None = None,
    held_out: Sequence[Experiment] | None = None,
) -> ReportData:
    """The data of a report; records that are not given are those that the estimate still has."""
    if not isinstance(estimate, Estimate):
        raise InputError(f"A report is of a didim.Estimate, found {shortened(estimate)}.")
    fitted = estimate.experiments if experiments is None else _listed(experiments, "experiments")
    if held_out is not None:
        others = _listed(held_out, "validation")
        tried = [estimate.predictor.try_on(each, fitted) for each in others]
        estimate = replace(
            estimate,
            held_out=others,
            validation=tuple(validation for validation, _ in tried),
            predictions={each.record: rows for each, rows in tried if rows is not None},
        )
    return ReportData(estimate, fitted, estimate.held_out)


def _listed(given: Sequence[Experiment] | Experiment, name: str) -> tuple[Experiment, ...]:
    found = (given,) if isinstance(given, Experiment) else given
    if not isinstance(found, list | tuple) or not all(
        isinstance(each, Experiment) for each in found
    ):
        raise InputError(
            f"{name} must be a didim.Experiment or a list of them, found {shortened(given)}."
        )
    return tuple(found)


def _shown(estimate: Estimate, experiment: Experiment) -> Shown:
    """The record with its prediction, which validation may have made already, or the reason why
    there is none.
    """
    if not np.all(np.isfinite(estimate.parameters)):
        return Shown(experiment, None, None, "the estimate has no finite values")
    try:
        known = estimate.predictions.get(data_hash(experiment))
        rows = known or estimate.predictor.compare(experiment)
        return Shown(experiment, rows, torque_curves(estimate, experiment, rows.torque))
    except (
        InputError,
        InfeasibleError,
    ) as problem:  # too short, no controller, a simulation that fails
        return Shown(experiment, None, None, str(problem))
