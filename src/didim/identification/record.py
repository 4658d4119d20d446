"""The records that a method works on: checked against the robot and put on a regular clock."""

from __future__ import annotations

from collections.abc import Sequence

from didim.dynamics.torque import TorqueModel
from didim.results.prediction import check_joints, refuse_silent
from didim.signals.experiment import Experiment
from didim.signals.resample import regular


def prepared(
    model: TorqueModel, experiments: Sequence[Experiment], interpolation: str = "cubic"
) -> list[Experiment]:
    """The experiments on regular clocks; refused where one is of another robot or has no torque at
    a joint.
    """
    found = []
    for experiment in experiments:
        check_joints(model, experiment)
        refuse_silent(model, experiment)
        found.append(regular(experiment, interpolation))
    return found


def record_notes(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """Notes of the records, each with the name of its record."""
    return tuple(f"{each.name or 'record'}: {note}" for each in experiments for note in each.notes)
