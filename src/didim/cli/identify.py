"""`didim identify`: the identification that a study describes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import didim
from didim.cli.shared.estimate_answer import estimate_answer, is_usable
from didim.cli.shared.options import (
    add_file,
    add_force,
    add_json,
    add_project,
    add_report,
    add_study,
)
from didim.cli.shared.outputs import free_outputs, named_output, save_all, show
from didim.cli.shared.progress import progress
from didim.output import PAGE_ENDINGS, Overwrite, refuse_inputs

if TYPE_CHECKING:
    from didim.robot import Robot
    from didim.study import Study

DESCRIPTION = "Exit status 0: converged, 1: not converged, 2: bad input."
EXAMPLES = """
didim identify study.toml
didim identify study.toml --report report.html
didim identify study.toml --set method=idim --out result.json
didim identify study.toml --set didim.estimate_gains=true --json
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A study, and the files to write."""
    add_study(command)
    add_json(command)
    add_file(command, "--out", help="save the result: a .json file, and an .npz beside it")
    add_file(command, "--robot-out", help="write the identified robot: .urdf, .xml or .toml")
    add_report(command)
    add_project(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print the summary, write the requested files; status 1 if it did not converge or the model
    should not be used.
    """
    from didim.results.identified import to_robot
    from didim.results.store import files_of_result, save
    from didim.robot.armature import armature_note

    study = didim.load_study(options.study, options.set)
    result = _named(options.out, study, "result", (".json",))
    robot = _named(options.robot_out, study, "robot", (".urdf", ".xml", ".toml"))
    page = _named(options.report, study, "report", PAGE_ENDINGS)
    outputs = [each for file in (result, robot, page) if file for each in files_of_result(file)]
    overwrite = free_outputs(outputs, options.force)
    if outputs:
        refuse_inputs(outputs, study.inputs)
    with progress(f"identifying {study.model.robot.name}") as report:
        estimate = study.run(report, origin={"command": options.command})
    like = None if robot is None else study.description(robot.suffix.lower())
    written: list[Robot] = []

    def write_robot(file: Path, over: Overwrite) -> None:
        written.append(to_robot(estimate, file, over, None, like, options.project))

    def write_page(file: Path, over: Overwrite) -> None:
        from didim.report.page import write_report

        write_report(estimate, file, overwrite=over)

    saved = save_all(
        [
            (result, lambda file, over: save(estimate, file, over)),
            (robot, write_robot),
            (page, write_page),
        ],
        overwrite,
        options.debug,
    )
    files = [str(each) for file in saved.files for each in files_of_result(file)]
    is_urdf = robot is not None and robot.suffix.lower() == ".urdf"
    show(
        options,
        lambda: estimate_answer(estimate, files),
        estimate.summary,
        files,
        saved.refused,
        armature_note(written[-1]) if written and is_urdf else "",
    )
    return 0 if is_usable(estimate) and not saved.refused else 1


def _named(given: str | None, study: Study, key: str, endings: tuple[str, ...]) -> Path | None:
    """The file that an option or the study names."""
    return named_output(given if given is not None else study.output(key), endings)
