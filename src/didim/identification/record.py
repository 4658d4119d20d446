"""The records that a method works on: checked against the robot and put on a regular clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from didim.dynamics.torque import TorqueModel
from didim.errors import InputError
from didim.results.prediction import check_joints
from didim.signals.experiment import Experiment
from didim.signals.resample import regular


def joint_label(model: TorqueModel, j: int) -> str:
    """A joint by number and name, for messages."""
    return f"joint {j + 1} ({model.robot.joint_names[j]})"


def prepared(model: TorqueModel, experiments: Sequence[Experiment], interpolation: str = "cubic") -> list[Experiment]:
    """The experiments on regular clocks; refused where one is of another robot or has no torque at a joint."""
    found = []
    for experiment in experiments:
        check_joints(model, experiment)
        silent = np.flatnonzero(np.abs(np.asarray(experiment.tau)).max(axis=0) == 0)
        if silent.size:
            raise InputError(
                f"Experiment {experiment.name!r}: the torque of {joint_label(model, int(silent[0]))} is zero throughout. "
                "Was it recorded, and is it in the right column?"
            )
        found.append(regular(experiment, interpolation))
    return found


def record_notes(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """Notes of the records, each with the name of its record."""
    return tuple(f"{each.name or 'record'}: {note}" for each in experiments for note in each.notes)
