"""`didim simulate`: the motion of a study's robot in its loop."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import didim
from didim.cli.shared.answer import Answer, Number, printed
from didim.cli.shared.options import add_file, add_force, add_json, add_study
from didim.cli.shared.outputs import OVERWRITE_HINT, saved, say_refused
from didim.cli.shared.progress import progress
from didim.errors import InputError
from didim.output import Overwrite, Seen, free, refuse_inputs, write

if TYPE_CHECKING:
    from didim.export import BesideMujoco
    from didim.results import Estimate
    from didim.study.simulated import Simulated

DESCRIPTION = "The parameters are the described ones, or those of a saved result."
EXAMPLES = """
didim simulate study.toml --out motion.csv
didim simulate study.toml --with result.json --out motion.npz
"""


def arguments(command: argparse.ArgumentParser) -> None:
    """A study, a result, and the files to write."""
    add_study(command)
    add_file(
        command,
        "--with",
        metavar="RESULT",
        dest="result",
        help="a result that didim identify --out saved",
    )
    add_file(command, "--out", default="motion.csv", help=".csv or .npz (default %(default)s)")
    add_file(
        command,
        "--mujoco",
        metavar="MJCF",
        nargs="?",
        const="",
        help="also step MuJoCo in the same loop: this exported .xml, or a new one of the robot",
    )
    add_file(command, "--picture", help="draw the difference of MuJoCo and didim: .png")
    add_json(command)
    add_force(command)


def run(options: argparse.Namespace) -> int:
    """Write the motions; status 1 if one could not be completed."""
    from didim.results.store import files_of_result
    from didim.study.simulated import files_for, motion_table, simulate_study

    study = didim.load_study(options.study, options.set)
    estimate = None if options.result is None else didim.load_estimate(options.result)
    target, records = Path(options.out), [*study.records]
    files = files_for(target, records)
    for file in files:
        free(file, options.force, OVERWRITE_HINT)
    picture = _picture(options)
    result = () if options.result is None else files_of_result(Path(options.result))
    other = [Path(options.mujoco)] if options.mujoco else []
    refuse_inputs([*files, *([picture] if picture else [])], [*study.inputs, *result, *other])
    overwrite = Seen.now(files) if options.force else False
    with progress(f"simulating {study.model.robot.name}") as report:
        found = simulate_study(study, estimate, report)
    beside = _beside_mujoco(estimate, found, options.mujoco)

    def write_to(place: Path, over: Overwrite) -> None:
        tables = zip(files_for(place, records), found, strict=True)
        write(
            {file: motion_table(each, file.suffix.lower()) for file, each in tables},
            over,
            OVERWRITE_HINT,
        )

    place, refused = saved(write_to, target, overwrite, options.debug)
    files = [] if place is None else files_for(place, records)
    motions = [
        MotionAnswer(
            experiment=each.experiment.name,
            file=str(files[k]) if files else "",
            completed=each.motion.completed,
            message=each.motion.message,
            samples=int(each.motion.t.size),
            mujoco=_answer(beside[k]) if beside else None,
        )
        for k, each in enumerate(found)
    ]
    if options.json:
        print(printed(SimulateAnswer(robot=study.model.robot.name, motions=motions)))
    else:
        for each in motions:
            failure = "" if each.completed else f"; NOT COMPLETED: {each.message}"
            print(
                f"{each.experiment}: {each.samples} samples of t, q_ref, q, dq, ddq, tau in "
                f"{each.file or 'no file'}{failure}"
            )
        for pair in beside:
            print(pair)
    if picture is not None:
        drawn = _draw(beside, picture, options.force)
        if not options.json:
            print(f"Difference of MuJoCo and didim: {drawn}")
    say_refused(refused)
    return 0 if all(each.completed for each in motions) and not refused else 1


def _picture(options: argparse.Namespace) -> Path | None:
    """The file of the picture, which is of MuJoCo beside didim."""
    from didim.report.files import check_free

    if options.mujoco is not None and options.result is None:
        raise InputError("--mujoco steps an identified robot; give its result: --with result.json.")
    if options.picture is None:
        return None
    if options.mujoco is None:
        raise InputError("--picture shows MuJoCo beside didim; give --mujoco as well.")
    return check_free(Path(options.picture), ".png", options.force)


def _beside_mujoco(
    estimate: Estimate | None, found: list[Simulated], file: str | None
) -> list[BesideMujoco]:
    """MuJoCo in the loop of each record; none where it was not asked for."""
    if estimate is None or file is None:
        return []
    with progress("stepping MuJoCo"):
        return [
            didim.beside_mujoco(estimate, each.experiment, file or None, each.motion)
            for each in found
        ]


def _draw(beside: list[BesideMujoco], file: Path, force: bool) -> Path:
    """Write the picture."""
    from didim.report.files import write_picture
    from didim.report.pictures import mujoco_difference, new_axes

    axes = new_axes(len(beside), 1)
    for pair, own in zip(beside, axes[:, 0], strict=True):
        mujoco_difference(pair, own)
    return write_picture(axes[0, 0], file, force)


@dataclass(frozen=True, eq=False)
class MujocoAnswer(Answer):
    """Root mean squares of positions by joint, rad or m."""

    difference: list[Number]
    """Of MuJoCo and didim."""
    error_of_didim: list[Number] | None
    """Against the record; null where that has no positions."""
    error_of_mujoco: list[Number] | None


@dataclass(frozen=True, eq=False)
class MotionAnswer(Answer):
    """One record of `didim simulate`."""

    experiment: str
    file: str
    completed: bool
    message: str
    samples: int
    mujoco: MujocoAnswer | None
    """MuJoCo in the same loop, where it was asked for (--mujoco)."""


@dataclass(frozen=True, eq=False)
class SimulateAnswer(Answer):
    """The result of `didim simulate`."""

    robot: str
    motions: list[MotionAnswer]


def _answer(pair: BesideMujoco) -> MujocoAnswer:
    errors = pair.errors
    return MujocoAnswer(
        difference=pair.difference.tolist(),
        error_of_didim=None if errors is None else errors[0].tolist(),
        error_of_mujoco=None if errors is None else errors[1].tolist(),
    )
