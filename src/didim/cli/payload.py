"""`didim payload`: what a robot carries, from a result of the empty robot and records with the
load.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import didim
from didim.cli.shared.answer import Answer, Number, OneOf
from didim.cli.shared.estimate_answer import IdentifyAnswer, estimate_answer
from didim.cli.shared.options import (
    add_file,
    add_force,
    add_json,
    add_project,
    add_result,
    add_set,
)
from didim.cli.shared.outputs import free_outputs, named_output, save_all, show
from didim.cli.shared.progress import progress
from didim.errors import InputError
from didim.output import PAGE_ENDINGS, Overwrite, refuse_inputs

if TYPE_CHECKING:
    from didim.identification.identify import Method
    from didim.payload import Payload
    from didim.results import Estimate
    from didim.signals import Experiment

DESCRIPTION = (
    "RESULT is a saved result of the empty robot; FILE a study with the records of the loaded one, "
    "or records with the columns of its own. Mass, centre and inertia come with the uncertainty of "
    "both."
)
EXAMPLES = """
didim payload empty.json loaded.toml
didim payload empty.json loaded.csv --report loaded.html
didim payload empty.json loaded.toml --robot-out loaded.urdf --like arm.urdf --json
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A result, the loaded robot, and the files to write."""
    add_result(command)
    add_file(command, "files", nargs="+", help="a study (.toml), or records with the load")
    add_set(command)
    command.add_argument(
        "--link", metavar="JOINT", help="the joint whose link carries it (default: the last one)"
    )
    command.add_argument(
        "--torque-sigma",
        metavar="FRACTION",
        type=float,
        default=0.0,
        help="relative standard deviation of the drive gains, such as 0.05, for the intervals",
    )
    command.add_argument(
        "--hold-friction",
        action="store_true",
        help="friction and offsets are those of the empty robot (default: estimated again)",
    )
    add_json(command)
    add_file(command, "--out", help="save the robot with its load: a .json file, and an .npz")
    add_file(command, "--robot-out", help="write the robot with its load: .urdf, .xml or .toml")
    add_file(command, "--like", help="keep the links of this URDF or MJCF")
    add_file(command, "--report", help="write an HTML report")
    add_project(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Print the load, write the requested files; status 1 if the robot with it was not
    identified.
    """
    from didim.report.page import write_report
    from didim.results.identified import to_robot
    from didim.results.store import files_of_result, save

    result = named_output(options.out, (".json",))
    robot = named_output(options.robot_out, (".urdf", ".xml", ".toml"))
    page = named_output(options.report, PAGE_ENDINGS)
    outputs = [each for file in (result, robot, page) if file for each in files_of_result(file)]
    overwrite = free_outputs(outputs, options.force)
    refuse_inputs(outputs, [*files_of_result(Path(options.result)), *map(Path, options.files)])
    empty = didim.load_estimate(options.result)
    records, method = _records(options, empty)
    friction = "held" if options.hold_friction else "estimated"
    with progress(f"payload of {empty.model.robot.name}") as report:
        payload = didim.identify_payload(
            empty,
            records,
            options.link,
            friction=friction,
            torque_sigma=options.torque_sigma,
            method=method,
            progress=report,
            origin={"command": options.command},
        )
    loaded = payload.estimate

    def write_robot(file: Path, over: Overwrite) -> None:
        to_robot(loaded, file, over, None, options.like, options.project)

    def write_page(file: Path, over: Overwrite) -> None:
        write_report(loaded, file, None, None, over, None, payload)

    writers = [
        (result, lambda file, over: save(loaded, file, over)),
        (robot, write_robot),
        (page, write_page),
    ]
    saved = save_all(writers, overwrite, options.debug)
    files = [str(each) for file in saved.files for each in files_of_result(file)]
    show(options, lambda: _answer(payload, friction, files), payload.summary, files, saved.refused)
    return 0 if loaded.status is didim.Status.CONVERGED and not saved.refused else 1


def _records(
    options: argparse.Namespace, empty: Estimate
) -> tuple[list[Experiment], Method | None]:
    """The records with the load, and the method of the study that has them."""
    from didim.study.loaded import similar_records, study_records

    if [Path(each).suffix.lower() for each in options.files] == [".toml"]:
        return study_records(didim.load_study(options.files[0], options.set), empty)
    if options.set:
        raise InputError("--set changes a study; here are records.")
    return similar_records(options.files, empty), None


@dataclass(frozen=True, eq=False)
class PayloadSigmaAnswer(Answer):
    """Standard deviations of a load; null where the motion identifies nothing."""

    mass: Number
    centre: list[Number]
    inertia: list[list[Number]]


@dataclass(frozen=True, eq=False)
class PayloadAnswer(Answer):
    """The result of `didim payload`."""

    robot: str
    joint: str
    """The joint whose link carries the load."""
    seen: bool
    """Whether the 95 % interval of the mass excludes zero."""
    mass: float
    """kg."""
    mass_interval: list[Number]
    """95 %, for the uncertainty of both records and the colour of their residuals."""
    centre: list[float]
    """m, in the frame of the joint."""
    inertia: list[list[float]]
    """kg m^2, about the centre."""
    sigma: PayloadSigmaAnswer
    parameters: dict[str, float]
    """XX XY XZ YY YZ ZZ MX MY MZ M, about the origin of the joint's frame."""
    parameter_sigma: dict[str, Number]
    identified: list[str]
    """The parameters that the motion identifies."""
    at_border: bool
    """Whether least squares alone gave no physical body."""
    friction: Annotated[str, OneOf("estimated", "held")]
    notes: list[str]
    estimate: IdentifyAnswer
    """The robot with its load."""
    files: list[str]
    """What was written."""


def _answer(payload: Payload, friction: str, files: list[str]) -> PayloadAnswer:
    from didim.results.serialisation import finite
    from didim.robot.effects import LINK

    sigma, robot = payload.sigma, payload.estimate.model.robot
    deviations = payload.covariance.diagonal() ** 0.5
    return PayloadAnswer(
        robot=robot.name,
        joint=robot.joint_names[payload.link],
        seen=payload.is_seen,
        mass=payload.mass,
        mass_interval=finite(payload.interval().tolist()),
        centre=payload.centre.tolist(),
        inertia=payload.inertia.tolist(),
        sigma=PayloadSigmaAnswer(
            mass=finite([sigma.mass])[0],
            centre=finite(sigma.centre.tolist()),
            inertia=finite(sigma.inertia.tolist()),
        ),
        parameters=dict(zip(LINK, payload.parameters.tolist(), strict=True)),
        parameter_sigma=finite(dict(zip(LINK, deviations.tolist(), strict=True))),
        identified=list(payload.identified),
        at_border=payload.at_border,
        friction=friction,
        notes=list(payload.notes),
        estimate=estimate_answer(payload.estimate, []),
        files=files,
    )
