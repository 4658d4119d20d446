"""The records with a load that `didim payload` is given: those of a study, or files like those that
the empty robot was identified from.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from didim.errors import InputError
from didim.identification.identify import Method
from didim.results.estimate import Estimate
from didim.results.formatting import listed
from didim.signals.experiment import Experiment
from didim.signals.load import load_experiment
from didim.study.reading import check_study
from didim.study.records import experiment_of
from didim.study.study import Study

_OF_ONE_RECORD = ("file", "name", "use", "load", "hold_out", "between", "rows")
"""Keys of an experiment that belong to its own file."""


def refuse_other_robot(study: Study, estimate: Estimate) -> None:
    """Refuse a study of another robot, or with other effects."""
    own, other = study.model.robot.joint_names, estimate.model.robot.joint_names
    if own != other:
        common = [name for name in own if name in other]
        found = f"common are {listed(common)}" if common else "none is common"
        raise InputError(
            f"{study.name}: its robot has the joints {listed(own)}, the result has "
            f"{listed(other)}: {found}. Give records of the robot that was identified."
        )
    if study.model.base.parameter_names != estimate.model.parameter_names:
        raise InputError(
            f"{study.name}: its model has other parameters than the result; use the same robot "
            "file and effects for both."
        )


def study_records(study: Study, estimate: Estimate) -> tuple[list[Experiment], Method]:
    """The records of a study, those with load = true where some have it, and its method, started
    from the estimate.
    """
    refuse_other_robot(study, estimate)
    starts = {"initial": estimate} if study.settings.method == "didim" else {}
    pairs = list(zip(study.records, study.settings.experiment, strict=True))
    marked = [record for record, table in pairs if table.load]
    return marked or [record for record, _ in pairs], study.method(None, **starts)


def similar_records(files: Sequence[str], estimate: Estimate) -> list[Experiment]:
    """Files that are read as the first record of the empty robot was."""
    study = estimate.provenance.get("study")
    model = estimate.model.full
    if not isinstance(study, dict):
        joints = model.robot.joint_names
        return [load_experiment(each, joints=joints, channels=model.channels) for each in files]
    first: dict[str, Any] = dict(study.get("experiment", [{}])[0])
    table = {key: value for key, value in first.items() if key not in _OF_ONE_RECORD}
    if gains := estimate.provenance.get("drive_gains"):
        table["drive_gain"] = [value for value, _ in gains.values()]
    study = {key: value for key, value in study.items() if key != "drive_gains"}
    records = []
    for k, each in enumerate(files):
        described = {**study, "experiment": [{**table, "file": str(Path(each).absolute())}]}
        settings = check_study(described, each)
        record = experiment_of(settings.experiment[0], k, model, estimate.controller, Path())
        records.append(record)
    return records
