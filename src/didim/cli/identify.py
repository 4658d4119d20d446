"""`didim identify`: the identification that a study describes."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from didim.cli.answers import (
    AlongMotionAnswer,
    ConsistencyAnswer,
    IdentifyAnswer,
    JudgementAnswer,
    LackOfFitAnswer,
    LoadAnswer,
    TestAnswer,
    UseAnswer,
    ValidationAnswer,
    printed,
)
from didim.cli.init import OVERWRITE_HINT
from didim.cli.progress import progress
from didim.cli.saving import Writer, saved
from didim.errors import InputError
from didim.output import Overwrite, Seen, free, refuse_inputs
from didim.report.html import ENDINGS
from didim.report.page import write_report
from didim.results.estimate import Estimate
from didim.results.estimate_data import estimate_data
from didim.results.identified import to_robot
from didim.results.judgement import judge
from didim.results.status import Status
from didim.results.store import files_of_result, save
from didim.robot.armature import armature_note
from didim.robot.robot import Robot
from didim.study import Study, load_study


def run(options: argparse.Namespace) -> int:
    """Print the summary, write the requested files; status 1 if it did not converge or the model
    should not be used.
    """
    study = load_study(options.study, options.set)
    result = _named(options.out, study, "result", (".json",))
    robot = _named(options.robot_out, study, "robot", (".urdf", ".xml", ".toml"))
    page = _named(options.report, study, "report", ENDINGS)
    overwrite = free_outputs([file for file in (result, robot, page) if file], study, options.force)
    with progress(f"identifying {study.model.robot.name}") as report:
        estimate = study.run(report, origin={"command": options.command})
    like = None if robot is None else study.description(robot.suffix.lower())
    written: list[Robot] = []

    def write_robot(file: Path, over: Overwrite) -> None:
        written.append(to_robot(estimate, file, over, None, like, options.project))

    writers: list[tuple[Path | None, Writer]] = [
        (result, lambda file, over: save(estimate, file, over)),
        (robot, write_robot),
        (page, lambda file, over: write_report(estimate, file, overwrite=over)),
    ]
    found = [
        saved(writer, file, overwrite, options.debug)
        for file, writer in writers
        if file is not None
    ]
    files = [str(each) for file, _ in found if file for each in files_of_result(file)]
    refused = " ".join(problem for _, problem in found if problem)
    is_urdf = robot is not None and robot.suffix.lower() == ".urdf"
    armature = armature_note(written[-1]) if written and is_urdf else ""
    if options.json:
        print(printed(answer(estimate, files)))
    else:
        print(estimate.summary())
        if files:
            print(f"\nWritten: {', '.join(files)}")
        if armature:
            print(armature)
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
    return 0 if is_usable(estimate) and not refused else 1


def is_usable(estimate: Estimate) -> bool:
    """Whether it converged, and the model may be used for something."""
    return estimate.status is Status.CONVERGED and judge(estimate).level != "no"


def _named(given: str | None, study: Study, key: str, endings: tuple[str, ...]) -> Path | None:
    """The file that an option or the study names."""
    return named_output(given if given is not None else study.output(key), endings)


def named_output(given: str | Path | None, endings: tuple[str, ...]) -> Path | None:
    """The file that is to be written, refused where its ending is wrong."""
    path = None if given is None else Path(given)
    if path is not None and path.suffix.lower() not in endings:
        raise InputError(f"{path}: must end in {' or '.join(endings)}.")
    return path


def free_outputs(files: list[Path], study: Study, force: bool) -> Overwrite:
    """Refuse, before any work, files that cannot be written or that the study reads; returns what
    may be written over.
    """
    outputs = [each for file in files for each in files_of_result(file)]
    for each in outputs:
        free(each, force, OVERWRITE_HINT)
    if outputs:
        refuse_inputs(outputs, study.inputs)
    return Seen.now(outputs) if force else False


def validations(data: dict[str, Any]) -> list[ValidationAnswer]:
    """How well an estimate, as plain data, predicts other records."""
    return [_validation(each) for each in data["validation"]]


def tests(data: dict[str, Any]) -> dict[str, TestAnswer]:
    """The tests of an estimate, as plain data."""
    return {name: TestAnswer(**each) for name, each in data["tests"].items()}


def _validation(data: dict[str, Any]) -> ValidationAnswer:
    names = set(ValidationAnswer.model_fields) - {"along_motion", "along_motion_by_joint", "load"}
    along, load = data["along_motion"] or {}, data["load"]
    return ValidationAnswer(
        **{name: data[name] for name in names},
        along_motion=along.get("residual"),
        along_motion_by_joint=along.get("residual_by_joint"),
        load=None if load is None else LoadAnswer(**load),
    )


def answer(estimate: Estimate, files: list[str]) -> IdentifyAnswer:
    """An estimate as the JSON object of the command."""
    data, judged = estimate_data(estimate), judge(estimate)
    uses = [UseAnswer(name=each.name, level=each.level, why=each.why) for each in judged.uses]
    own: dict[str, Any] = {
        "robot": estimate.model.robot.name,
        "shapes": {
            name: data["shapes"].get(name, [value, None])
            for name, value in estimate.model.full.shape_values.items()
        },
        "validation": validations(data),
        "fitted": [_validation(each) for each in data["fitted"]],
        "along_motion": [AlongMotionAnswer(**each) for each in data["along_motion"]],
        "controller": _controller(data["controller"]),
        "judgement": JudgementAnswer(
            level=judged.level, sentence=judged.sentence, headline=judged.headline, uses=uses
        ),
        "consistency": ConsistencyAnswer(**data["consistency"]),
        "lack_of_fit": LackOfFitAnswer(**data["lack_of_fit"]),
        "drive_gains": data["provenance"].get("drive_gains", {}),
        "tests": tests(data),
        "files": files,
    }
    shared = {name: data[name] for name in IdentifyAnswer.model_fields if name not in own}
    return IdentifyAnswer(**shared, **own)


def _controller(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """The loop as plain data; no limit is null."""
    if data is None or "saturation" not in data:
        return data
    limits = [float(limit) for limit in data["saturation"]]
    return {**data, "saturation": [None if math.isinf(limit) else limit for limit in limits]}
