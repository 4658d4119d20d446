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
    UseAnswer,
    ValidationAnswer,
    printed,
)
from didim.cli.init import OVERWRITE_HINT
from didim.cli.progress import progress
from didim.errors import InputError
from didim.output import free
from didim.report.page import ENDINGS, write_report
from didim.results.estimate import Estimate
from didim.results.estimate_data import estimate_data
from didim.results.judgement import judge
from didim.results.status import Status
from didim.robot.armature import armature_note
from didim.study import Study, load_study


def run(options: argparse.Namespace) -> int:
    """Print the summary, write the requested files; status 1 if it did not converge or the model
    should not be used.
    """
    study = load_study(options.study, options.set)
    result = _free(options.out, study, "result", (".json",), options.force)
    robot = _free(options.robot_out, study, "robot", (".urdf", ".toml"), options.force)
    page = _free(options.report, study, "report", ENDINGS, options.force)
    with progress(f"identifying {study.model.robot.name}") as report:
        estimate = study.run(report, origin={"command": options.command})
    like = study.urdf if robot is not None and robot.suffix.lower() == ".urdf" else None
    files, refused, armature = _write(estimate, result, robot, like, options.force, options.project)
    if page is not None:
        try:
            files.append(str(write_report(estimate, page, overwrite=options.force)))
        except InputError as problem:  # the disk is full or the folder missing: the result is kept
            refused = f"{refused} {page} was not written. {problem}".strip()
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
    usable = estimate.status is Status.CONVERGED and judge(estimate).level != "no"
    return 0 if usable and not refused else 1


def _write(
    estimate: Estimate,
    result: Path | None,
    robot: Path | None,
    like: Path | None,
    force: bool,
    project: bool,
) -> tuple[list[str], str, str]:
    """Write the result and the robot; the files, why there is no robot where none could be written
    (the result is kept), and what a URDF cannot hold.
    """
    files: list[str] = []
    armature = ""
    if result is not None:
        estimate.save(result, overwrite=force)
        files += [str(result), str(result.with_suffix(".npz"))]
    if robot is not None:
        try:
            found = estimate.to_robot(robot, overwrite=force, like=like, project=project)
        except InputError as problem:
            return files, f"{robot} was not written. {problem}", ""
        files.append(str(robot))
        armature = armature_note(found) if robot.suffix.lower() == ".urdf" else ""
    return files, "", armature


def _free(
    given: str | None, study: Study, key: str, endings: tuple[str, ...], force: bool
) -> Path | None:
    """The file that an option or the study names, refused before any work if it cannot be
    written.
    """
    path = Path(given) if given is not None else study.output(key)
    if path is None:
        return None
    if path.suffix.lower() not in endings:
        raise InputError(f"{path}: must end in {' or '.join(endings)}.")
    free(path, force, OVERWRITE_HINT)
    if key == "result":
        free(path.with_suffix(".npz"), force, OVERWRITE_HINT)
    return path


def validations(data: dict[str, Any]) -> list[ValidationAnswer]:
    """How well an estimate, as plain data, predicts other records."""
    return [_validation(each) for each in data["validation"]]


def _validation(data: dict[str, Any]) -> ValidationAnswer:
    names = set(ValidationAnswer.model_fields) - {"along_motion", "along_motion_by_joint"}
    along = data["along_motion"] or {}
    return ValidationAnswer(
        **{name: data[name] for name in names},
        along_motion=along.get("residual"),
        along_motion_by_joint=along.get("residual_by_joint"),
    )


def answer(estimate: Estimate, files: list[str]) -> IdentifyAnswer:
    """An estimate as the JSON object of the command."""
    data, judged = estimate_data(estimate), judge(estimate)
    uses = [UseAnswer(name=each.name, level=each.level, why=each.why) for each in judged.uses]
    own: dict[str, Any] = {
        "robot": estimate.model.robot.name,
        "validation": validations(data),
        "fitted": [_validation(each) for each in data["fitted"]],
        "along_motion": [AlongMotionAnswer(**each) for each in data["along_motion"]],
        "controller": _controller(data["controller"]),
        "judgement": JudgementAnswer(
            level=judged.level, sentence=judged.sentence, headline=judged.headline, uses=uses
        ),
        "consistency": ConsistencyAnswer(**data["consistency"]),
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
