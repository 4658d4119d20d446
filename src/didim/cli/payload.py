"""`didim payload`: what a robot carries, from a result of the empty robot and records with the
load.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from didim.cli.answers import PayloadAnswer, PayloadSigmaAnswer, printed
from didim.cli.identify import answer, named_output
from didim.cli.init import OVERWRITE_HINT
from didim.cli.progress import progress
from didim.cli.saving import Writer, saved
from didim.errors import InputError
from didim.output import Overwrite, Seen, free, refuse_inputs
from didim.payload import Payload, identify_payload
from didim.report.html import ENDINGS
from didim.report.page import write_report
from didim.results import load_estimate
from didim.results.identified import to_robot
from didim.results.serialisation import finite
from didim.results.status import Status
from didim.results.store import files_of_result, save
from didim.robot.effects import LINK
from didim.study import load_study
from didim.study.loaded import similar_records, study_records


def run(options: argparse.Namespace) -> int:
    """Print the load, write the requested files; status 1 if the robot with it was not
    identified.
    """
    result = named_output(options.out, (".json",))
    robot = named_output(options.robot_out, (".urdf", ".xml", ".toml"))
    page = named_output(options.report, ENDINGS)
    overwrite = _free_outputs([file for file in (result, robot, page) if file], options)
    estimate = load_estimate(options.result)
    method = None
    if [Path(each).suffix.lower() for each in options.files] == [".toml"]:
        study = load_study(options.files[0], options.set)
        records, method = study_records(study, estimate)
    elif options.set:
        raise InputError("--set changes a study; here are records.")
    else:
        records = similar_records(options.files, estimate)
    friction = "held" if options.hold_friction else "estimated"
    with progress(f"payload of {estimate.model.robot.name}") as report:
        payload = identify_payload(
            estimate,
            records,
            options.link,
            friction=friction,
            torque_sigma=options.torque_sigma,
            method=method,
            progress=report,
            origin={"command": options.command},
        )

    def write_robot(file: Path, over: Overwrite) -> None:
        to_robot(payload.estimate, file, over, None, options.like, options.project)

    writers: list[tuple[Path | None, Writer]] = [
        (result, lambda file, over: save(payload.estimate, file, over)),
        (robot, write_robot),
        (
            page,
            lambda file, over: write_report(
                payload.estimate, file, None, None, over, None, payload
            ),
        ),
    ]
    found = [saved(write, file, overwrite, options.debug) for file, write in writers if file]
    files = [str(each) for file, _ in found if file for each in files_of_result(file)]
    refused = " ".join(problem for _, problem in found if problem)
    if options.json:
        print(printed(_answer(payload, friction, files)))
    else:
        print(payload.summary())
        if files:
            print(f"\nWritten: {', '.join(files)}")
    if refused:
        print(f"didim: error: {refused}", file=sys.stderr)
    return 0 if payload.estimate.status is Status.CONVERGED and not refused else 1


def _free_outputs(files: list[Path], options: argparse.Namespace) -> Overwrite:
    """Refuse, before any work, files that cannot be written or that are read."""
    outputs = [each for file in files for each in files_of_result(file)]
    for each in outputs:
        free(each, options.force, OVERWRITE_HINT)
    inputs = [*files_of_result(Path(options.result)), *map(Path, options.files)]
    if outputs:
        refuse_inputs(outputs, inputs)
    return Seen.now(outputs) if options.force else False


def _answer(payload: Payload, friction: str, files: list[str]) -> PayloadAnswer:
    sigma = payload.sigma
    parameters = dict(zip(LINK, payload.parameters.tolist(), strict=True))
    deviations = payload.covariance.diagonal() ** 0.5
    return PayloadAnswer(
        robot=payload.estimate.model.robot.name,
        joint=payload.estimate.model.robot.joint_names[payload.link],
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
        parameters=parameters,
        parameter_sigma=finite(dict(zip(LINK, deviations.tolist(), strict=True))),
        identified=list(payload.identified),
        at_border=payload.at_border,
        friction=friction,
        notes=list(payload.notes),
        estimate=answer(payload.estimate, []),
        files=files,
    )
